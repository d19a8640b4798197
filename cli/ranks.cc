// SPDX-License-Identifier: Apache-2.0
#include "ranks.h"

#include <cstdlib>
#include <span>
#include <vector>

namespace espalier {
namespace {

// The variables of Open MPI, PMIx, MPICH and Slurm.
int number_in(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names) {
    if (const char* const text = std::getenv(name); text != nullptr) return std::atoi(text);
  }
  return otherwise;
}

}  // namespace

int launched_rank() { return number_in({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}, 0); }

int launched_size() { return number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 1); }

void in_turn(Ranks* ranks, const std::function<void()>& work) {
  if (ranks == nullptr) return work();
  const auto size = static_cast<std::size_t>(ranks->size());
  for (int turn = 0; turn < ranks->size(); ++turn) {
    if (turn == ranks->rank()) work();
    const std::byte own{};
    std::vector<std::byte> all(size);
    std::vector<std::span<std::byte>> receive;
    for (std::byte& each : all) receive.emplace_back(&each, 1);
    const std::vector<std::span<const std::byte>> send(size, {&own, 1});
    ranks->exchange(send, receive);
  }
}

}  // namespace espalier
