// SPDX-License-Identifier: Apache-2.0
// The rows of each leaf of a tree that grows: a list of row numbers in which the rows of a leaf lie
// together, in ascending order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/large_vector.h"
#include "core/thread_pool.h"

namespace espalier {

/// 1 for each bin whose rows go right.
using GoesRight = std::array<std::uint8_t, 256>;

class RowPartition {
 public:
  /// The threads outlive it.
  RowPartition(std::size_t num_rows, ThreadPool& pool)
      : pool_(pool), rows_(num_rows), left_(pool.size() > 1 ? num_rows : 0), right_(num_rows) {}

  /// One leaf with all rows.
  void reset();

  std::size_t num_rows() const { return rows_.size(); }
  std::span<const std::uint32_t> rows(std::size_t begin, std::size_t end) const {
    return std::span(rows_).subspan(begin, end - begin);
  }

  /// Moves the rows of the leaf [begin, end) that go right behind the others, and returns where
  /// they begin. bins: of one column, for every row.
  std::size_t divide(std::size_t begin, std::size_t end, const std::uint8_t* bins,
                     const GoesRight& goes_right);

 private:
  std::size_t divide_in_parallel(std::size_t begin, std::size_t end, std::size_t pieces,
                                 const std::uint8_t* bins, const GoesRight& goes_right);

  ThreadPool& pool_;
  LargeVector<std::uint32_t> rows_;
  LargeVector<std::uint32_t> left_;  // what goes to either side
  LargeVector<std::uint32_t> right_;
};

/// Divides a list of rows without branches: the list becomes that of the rows that go left, `right`
/// those that go right, both in their old order. Returns how many go left. Row r has the bin
/// bins[r].
template <class Row>
std::size_t divide_rows(const Row* rows, std::size_t count, const std::uint8_t* bins,
                        const GoesRight& goes_right, Row* to_left, Row* to_right) {
  std::size_t left = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const Row row = rows[k];
    const std::size_t is_right = goes_right[bins[row]];
    to_right[k - left] = row;
    to_left[left] = row;
    left += 1 - is_right;
  }
  return left;
}

}  // namespace espalier
