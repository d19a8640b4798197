// SPDX-License-Identifier: Apache-2.0
// Which rows come next: all rows of a dataset once per epoch, in a new order each time.
//
// Few rows are shuffled. Many rows may lie on a disk, which is read well from one end to the other,
// and on several ranks, each of which has some of the shards of every batch (train/gradient_sum.h).
// So each shard has a part of the rows for itself, a stretch of neighbours: blocks of the part are
// shuffled, and then the rows of each window of blocks. With m = many_rows a block has m / 1024
// rows and the windows of all parts m / 4 together: 4096 and a million. The order is worked out as
// it is needed.
//
// The loop of epochs and the engine see only batches. Rows that come from elsewhere are another
// class that says the same: how many steps an epoch has, and the rows of each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/random.h"
#include "encode/dataset.h"
#include "espalier/schema.h"
#include "train/gradient_sum.h"
#include "train/split.h"

namespace espalier {

/// The rows of one step.
struct Batch {
  const Dataset* data;
  std::vector<std::uint64_t> rows;  // of data; tile t is of shard t mod the number of shards
  std::size_t turn = 0;             // decides at which of its levels a row comes
};

/// Fills a tile with some rows of a batch, and the wire of their levels if the label has levels.
void load_tile(const Label& label, const Batch& batch, std::span<const std::uint64_t> rows,
               float* tile);

/// That wire, of rows with these numbers.
void load_levels(const Label& label, std::span<const std::uint64_t> rows, std::size_t turn,
                 float* levels);

/// The parts that some shards have of many rows, which are neighbours as the shards are.
RowRange part_of(ShardRange shards, std::uint64_t num_rows, int batch_size);

/// The order of the rows of a part, new in each epoch: full blocks, counted from a row that is
/// drawn and round the end, are shuffled, and then the places of each window of blocks.
class PartOrder {
 public:
  /// A window has whole blocks.
  PartOrder(RowRange rows, std::size_t block, std::size_t window);

  void next_epoch(const Random& random);

  /// The row at a place of the epoch, below the number of rows. Quick if places come in order.
  std::uint64_t row(std::uint64_t place);

 private:
  void mix(std::uint64_t window);

  RowRange rows_;
  std::uint64_t block_, window_;
  Random random_{0};
  std::uint64_t start_ = 0;
  std::vector<std::uint32_t> blocks_;  // the full ones; what is left comes last
  std::uint64_t mixed_ = 0;            // the window whose places are known
  std::vector<std::uint32_t> places_;  // in that window
};

class Batches {
 public:
  /// Of many rows it knows those of `own` shards; the rows of others are 0. `data` outlives it.
  Batches(const Dataset& data, int batch_size, ShardRange own, Random random,
          std::size_t many_rows = kManyRows);

  std::int64_t num_rows() const { return static_cast<std::int64_t>(data_.num_rows); }
  std::int64_t steps_per_epoch() const;

  /// Draws the order of the next epoch. It follows from the random numbers and the number of calls,
  /// so it need not be stored.
  void next_epoch();

  /// Rows of the steps before this one of the running epoch.
  std::int64_t rows_before(std::int64_t step) const;

  /// 0 <= step < steps_per_epoch().
  Batch batch(std::int64_t step);

 private:
  void add_own_rows(std::int64_t step, std::vector<std::uint64_t>& rows);

  const Dataset& data_;
  int batch_size_;
  ShardRange own_;
  Random random_;
  LargeVector<std::uint32_t> order_;  // of few rows
  std::vector<PartOrder> parts_;      // of many, one per own shard
  std::size_t epochs_ = 0;            // drawn
};

}  // namespace espalier
