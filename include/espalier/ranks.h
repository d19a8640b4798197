// SPDX-License-Identifier: Apache-2.0
// Several processes (ranks) that train one model together, on one machine or several.
//
// The library does not open network connections. You implement these three functions, for example
// with MPI; the library decides what to send and in which order to add it. The program uses MPI,
// the Python package mpi4py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace espalier {

/// One of `size()` processes, numbered from 0. All ranks call the library with the same options,
/// files and table (or their rows of the table), and all get the same model. Only one thread at a
/// time calls these functions.
class Ranks {
 public:
  virtual ~Ranks() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// For every rank q, including this one, sends send[q] to rank q and fills receive[q] with the
  /// bytes from rank q. Some spans are empty. Returns when the spans may be reused. An exception
  /// ends training and passes through train(). The other ranks then wait forever, so you must stop
  /// them.
  virtual void exchange(std::span<const std::span<const std::byte>> send,
                        std::span<const std::span<std::byte>> receive) = 0;
};

/// The rows [first, second) of a rank, for tables of 2^22 rows or more. A rank may call train()
/// with these rows only, as a table whose first_row is `first`. Types and categories must be those
/// of all rows.
std::pair<std::uint64_t, std::uint64_t> rows_of_rank(const Ranks& ranks, std::uint64_t num_rows);

}  // namespace espalier
