// SPDX-License-Identifier: Apache-2.0
#include "train/batches.h"

#include <algorithm>
#include <numeric>

#include "model/model_data.h"
#include "objective/loss.h"

namespace espalier {

void load_tile(const Label& label, const Batch& batch, std::span<const std::uint32_t> rows,
               float* tile) {
  const auto count = static_cast<int>(rows.size());
  load_tile(*batch.data, rows.data(), count, tile);
  if (label.num_levels() == 1) return;
  float* levels = tile + batch.data->num_features * kTile;
  for (int r = 0; r < kTile; ++r) {
    const std::size_t level = level_of(label, rows[r < count ? r : 0], batch.turn);
    levels[r] = static_cast<float>(label.level_position(level));
  }
}

Batches::Batches(const Dataset& data, int batch_size, Random random, std::size_t many_rows)
    : data_(data),
      batch_size_(batch_size),
      random_(random),
      many_rows_(many_rows),
      order_(data.num_rows) {
  std::iota(order_.begin(), order_.end(), 0u);
}

std::int64_t Batches::steps_per_epoch() const {
  return (num_rows() + batch_size_ - 1) / batch_size_;
}

void Batches::mix_windows() {
  const std::size_t block = std::max<std::size_t>(1, many_rows_ / 1024);
  const std::size_t window = std::max<std::size_t>(1, many_rows_ / 4);
  const std::size_t num_rows = order_.size();
  Rows blocks((num_rows + block - 1) / block);
  std::iota(blocks.begin(), blocks.end(), 0u);
  random_.shuffle(std::span(blocks));
  std::size_t end = 0;
  for (const std::uint32_t b : blocks) {
    const std::size_t first = b * block, last = std::min(first + block, num_rows);
    for (std::size_t row = first; row < last; ++row)
      order_[end++] = static_cast<std::uint32_t>(row);
  }
  for (std::size_t begin = 0; begin < num_rows; begin += window)
    random_.shuffle(std::span(order_).subspan(begin, std::min(window, num_rows - begin)));
}

void Batches::next_epoch() {
  if (order_.size() < many_rows_) {
    random_.shuffle(std::span(order_));
  } else {
    mix_windows();
  }
  ++epochs_;
}

std::int64_t Batches::rows_before(std::int64_t step) const {
  return std::min(step * batch_size_, num_rows());
}

Batch Batches::batch(std::int64_t step) const {
  const std::int64_t begin = rows_before(step), end = rows_before(step + 1);
  return {&data_,
          std::span(order_).subspan(static_cast<std::size_t>(begin),
                                    static_cast<std::size_t>(end - begin)),
          epochs_};
}

}  // namespace espalier
