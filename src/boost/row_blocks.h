// SPDX-License-Identifier: Apache-2.0
// The bins of rows once more, those of a row side by side: histograms read all columns of a row at
// a time. Columns come in blocks of up to eight, and each block is an array [row][column].
#pragma once

#include <cstddef>
#include <cstdint>

#include "boost/bins.h"
#include "core/large_vector.h"
#include "core/thread_pool.h"

namespace espalier {

class RowBlocks {
 public:
  static constexpr std::size_t kMaxWidth = 8;

  RowBlocks(const BinnedRows& bins, ThreadPool& pool);

  std::size_t num_blocks() const { return num_blocks_; }
  /// Columns of a block; the last block may have fewer, and room for as many.
  std::size_t width() const { return width_; }
  const std::uint8_t* block(std::size_t index) const {
    return bins_.data() + index * width_ * num_rows_;
  }

 private:
  std::size_t num_rows_;
  std::size_t num_blocks_;
  std::size_t width_;
  LargeVector<std::uint8_t> bins_;
};

}  // namespace espalier
