// SPDX-License-Identifier: Apache-2.0
// Ranks are the processes of MPI_COMM_WORLD.
#include <mpi.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "ranks.h"

namespace espalier {
namespace {

// MPI counts with int.
constexpr std::size_t kMax = std::size_t{1} << 30;

class MpiRanks : public Ranks {
 public:
  // MPI errors end all processes with a message, by default.
  MpiRanks() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void exchange(std::span<const std::span<const std::byte>> send,
                std::span<const std::span<std::byte>> receive) override {
    std::vector<MPI_Request> requests;
    for (int q = 0; q < size_; ++q) {
      const auto at = static_cast<std::size_t>(q);
      if (q == rank_) {
        std::ranges::copy(send[at], receive[at].begin());
        continue;
      }
      for (auto rest = receive[at]; !rest.empty(); rest = rest.subspan(part_of(rest))) {
        MPI_Irecv(rest.data(), static_cast<int>(part_of(rest)), MPI_BYTE, q, 0, MPI_COMM_WORLD,
                  &requests.emplace_back());
      }
      for (auto rest = send[at]; !rest.empty(); rest = rest.subspan(part_of(rest))) {
        MPI_Isend(rest.data(), static_cast<int>(part_of(rest)), MPI_BYTE, q, 0, MPI_COMM_WORLD,
                  &requests.emplace_back());
      }
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

 private:
  template <class Bytes>
  static std::size_t part_of(Bytes rest) {
    return std::min(rest.size(), kMax);
  }

  int rank_ = 0, size_ = 1;
};

std::optional<MpiRanks>& joined() {
  static std::optional<MpiRanks> ranks;
  return ranks;
}

}  // namespace

Ranks* join_ranks() {
  if (launched_size() == 1) return nullptr;
  if (!joined()) joined().emplace();
  return joined()->size() > 1 ? &*joined() : nullptr;
}

void leave_ranks() {
  if (joined()) MPI_Finalize();
}

void end_ranks(int code) {
  if (joined()) MPI_Abort(MPI_COMM_WORLD, code);
}

}  // namespace espalier
