// SPDX-License-Identifier: Apache-2.0
#include "train/batches.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "layers/tile.h"
#include "model/model_data.h"
#include "objective/loss.h"

namespace espalier {

namespace {

// Blocks of neighbours, and how many of them the windows of all parts have together.
constexpr std::size_t kBlocksOfManyRows = 1024, kBlocksOfAWindow = 256;

// Of a batch of `rows`, those in the tiles shard, shard + num_shards, ...
std::uint64_t rows_of_shard(int shard, int num_shards, std::uint64_t rows) {
  const auto own = static_cast<std::uint64_t>(shard), all = static_cast<std::uint64_t>(num_shards);
  const std::uint64_t full = rows / kTile;
  return (full + all - 1 - own) / all * kTile + (full % all == own ? rows % kTile : 0);
}

}  // namespace

void load_tile(const Label& label, const Batch& batch, std::span<const std::uint64_t> rows,
               float* tile) {
  const auto count = static_cast<int>(rows.size());
  load_tile(*batch.data, rows.data(), count, tile);
  load_levels(label, rows, batch.turn, tile + batch.data->num_features * kTile);
}

void load_levels(const Label& label, std::span<const std::uint64_t> rows, std::size_t turn,
                 float* levels) {
  if (label.num_levels() == 1) return;
  for (std::size_t r = 0; r < kTile; ++r) {
    const std::size_t level = level_of(label, rows[r < rows.size() ? r : 0], turn);
    levels[r] = static_cast<float>(label.level_position(level));
  }
}

RowRange part_of(ShardRange shards, std::uint64_t num_rows, int batch_size) {
  const auto size = static_cast<std::uint64_t>(batch_size);
  const int num_shards = num_shards_of(batch_size);
  const auto begin_of = [&](int last) {
    std::uint64_t rows = 0;
    for (int shard = 0; shard < last; ++shard)
      rows += num_rows / size * rows_of_shard(shard, num_shards, size) +
              rows_of_shard(shard, num_shards, num_rows % size);
    return rows;
  };
  return {begin_of(shards.first), begin_of(shards.last)};
}

PartOrder::PartOrder(RowRange rows, std::size_t block, std::size_t window)
    : rows_(rows), block_(block), window_(window), blocks_(rows.size() / block) {}

void PartOrder::next_epoch(const Random& random) {
  random_ = random;
  if (rows_.size() == 0) return;
  start_ = random_.below(rows_.size());
  std::iota(blocks_.begin(), blocks_.end(), 0u);
  random_.shuffle(std::span(blocks_));
  mixed_ = std::numeric_limits<std::uint64_t>::max();
}

void PartOrder::mix(std::uint64_t window) {
  places_.resize(std::min(window_, rows_.size() - window * window_));
  std::iota(places_.begin(), places_.end(), 0u);
  random_.split(window).shuffle(std::span(places_));
  mixed_ = window;
}

std::uint64_t PartOrder::row(std::uint64_t place) {
  const std::uint64_t window = place / window_;
  if (window != mixed_) mix(window);
  const std::uint64_t mixed = window * window_ + places_[place % window_];
  const std::uint64_t block = mixed / block_;
  const std::uint64_t from = block < blocks_.size() ? blocks_[block] : block;
  return rows_.begin + (start_ + from * block_ + mixed % block_) % rows_.size();
}

Batches::Batches(const Dataset& data, int batch_size, ShardRange own, Random random,
                 std::size_t many_rows)
    : data_(data), batch_size_(batch_size), own_(own), random_(random) {
  if (data.num_rows < many_rows) {
    order_.resize(data.num_rows);
    std::iota(order_.begin(), order_.end(), 0u);
    return;
  }
  const std::size_t block = std::max<std::size_t>(1, many_rows / kBlocksOfManyRows);
  const std::size_t window =
      block * (kBlocksOfAWindow / static_cast<std::size_t>(num_shards_of(batch_size)));
  for (int shard = own.first; shard < own.last; ++shard)
    parts_.emplace_back(part_of({shard, shard + 1}, data.num_rows, batch_size), block, window);
}

std::int64_t Batches::steps_per_epoch() const {
  return (num_rows() + batch_size_ - 1) / batch_size_;
}

void Batches::next_epoch() {
  if (!order_.empty()) random_.shuffle(std::span(order_));
  const Random epoch = random_.split(epochs_);
  for (std::size_t own = 0; own < parts_.size(); ++own)
    parts_[own].next_epoch(epoch.split(static_cast<std::size_t>(own_.first) + own));
  ++epochs_;
}

std::int64_t Batches::rows_before(std::int64_t step) const {
  return std::min(step * batch_size_, num_rows());
}

void Batches::add_own_rows(std::int64_t step, std::vector<std::uint64_t>& rows) {
  const int num_shards = num_shards_of(batch_size_);
  for (std::size_t own = 0; own < parts_.size(); ++own) {
    const int shard = own_.first + static_cast<int>(own);
    std::uint64_t place = static_cast<std::uint64_t>(step) *
                          rows_of_shard(shard, num_shards, static_cast<std::uint64_t>(batch_size_));
    for (std::size_t tile = static_cast<std::size_t>(shard) * kTile; tile < rows.size();
         tile += static_cast<std::size_t>(num_shards) * kTile) {
      const std::size_t end = std::min<std::size_t>(tile + kTile, rows.size());
      for (std::size_t i = tile; i < end; ++i) rows[i] = parts_[own].row(place++);
    }
  }
}

Batch Batches::batch(std::int64_t step) {
  const std::int64_t begin = rows_before(step), end = rows_before(step + 1);
  Batch batch{&data_, {}, epochs_};
  if (order_.empty()) {
    batch.rows.resize(static_cast<std::size_t>(end - begin));
    add_own_rows(step, batch.rows);
  } else {
    batch.rows.assign(order_.begin() + begin, order_.begin() + end);
  }
  return batch;
}

}  // namespace espalier
