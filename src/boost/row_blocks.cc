// SPDX-License-Identifier: Apache-2.0
#include "boost/row_blocks.h"

namespace espalier {

namespace {

constexpr std::size_t kBlockRowsPerTask = 4096;

}  // namespace

RowBlocks::RowBlocks(const BinnedRows& bins, ThreadPool& pool)
    : num_rows_(bins.num_rows()),
      num_blocks_((bins.num_columns() + kMaxWidth - 1) / kMaxWidth),
      width_(num_blocks_ > 0 ? (bins.num_columns() + num_blocks_ - 1) / num_blocks_ : 0),
      bins_(num_blocks_ * width_ * num_rows_) {
  pool.run_ranges(num_rows_, kBlockRowsPerTask, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = 0; c < bins.num_columns(); ++c) {
      const std::uint8_t* const from = bins.column(c);
      std::uint8_t* const to = bins_.data() + c / width_ * width_ * num_rows_ + c % width_;
      for (std::size_t r = begin; r < end; ++r) to[r * width_] = from[r];
    }
  });
}

}  // namespace espalier
