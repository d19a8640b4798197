// SPDX-License-Identifier: Apache-2.0
// Which rows come next: all rows of a dataset once per epoch, in a new order each time. Few rows are
// shuffled. Many rows may lie on a disk, which is read well from one end to the other: blocks of
// neighbours are shuffled, and then the rows of each window of blocks. With m = many_rows a block has
// m / 1024 rows and a window m / 4: 4096 and a million.
//
// The loop of epochs and the engine see only batches. Rows that come from elsewhere, a file or one
// machine's share of the table, are another class that says the same: how many steps an epoch has,
// and the rows of each.
#pragma once

#include <cstdint>
#include <span>

#include "core/random.h"
#include "data/dataset.h"
#include "espalier/schema.h"
#include "train/split.h"

namespace espalier {

/// The rows of one step.
struct Batch {
  const Dataset* data;
  std::span<const std::uint32_t> rows;  // of data
  std::size_t turn = 0;                 // decides at which of its levels a row comes
};

/// Fills a tile with some rows of a batch, and the wire of their levels if the label has levels.
void load_tile(const Label& label, const Batch& batch, std::span<const std::uint32_t> rows,
               float* tile);

class Batches {
 public:
  /// `data` outlives it.
  Batches(const Dataset& data, int batch_size, Random random, std::size_t many_rows = kManyRows);

  std::int64_t num_rows() const { return static_cast<std::int64_t>(order_.size()); }
  std::int64_t steps_per_epoch() const;

  /// Draws the order of the next epoch. It follows from the random numbers and the number of calls,
  /// so it need not be stored.
  void next_epoch();

  /// Rows of the steps before this one of the running epoch.
  std::int64_t rows_before(std::int64_t step) const;

  /// 0 <= step < steps_per_epoch(). Valid until the next epoch.
  Batch batch(std::int64_t step) const;

 private:
  void mix_windows();

  const Dataset& data_;
  std::int64_t batch_size_;
  Random random_;
  std::size_t many_rows_;
  Rows order_;
  std::size_t epochs_ = 0;  // drawn
};

}  // namespace espalier
