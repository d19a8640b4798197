// SPDX-License-Identifier: Apache-2.0
// Processes that train one model together, on one machine or several.
//
// The library knows no network. Whoever has one, MPI say, gives it these three functions; all that
// is sent, and in which order it is added, is decided here. The program does it with MPI, the
// Python package with mpi4py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace espalier {

/// One of `size()` processes, its rank from 0. All of them call the library with the same table, or
/// their rows of it, the same options and files; each gets the same model. One thread at a time
/// calls a function of this.
class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Sends send[q] to rank q and fills receive[q] with what rank q sends to this one, for every q,
  /// this rank too. Some are empty. Returns when the spans may be used again. What it throws ends
  /// training and leaves train(); the others wait for a rank that has left, so end them.
  virtual void exchange(std::span<const std::span<const std::byte>> send,
                        std::span<const std::span<std::byte>> receive) = 0;
};

/// The rows [first, second) of a table of 2^22 rows or more that are a rank's: it may give train()
/// those alone, as a table whose first_row says where they begin. Types and words are those of all
/// rows.
std::pair<std::uint64_t, std::uint64_t> rows_of_rank(const Ranks& ranks, std::uint64_t num_rows);

}  // namespace espalier
