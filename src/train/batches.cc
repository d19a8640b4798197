// SPDX-License-Identifier: Apache-2.0
#include "train/batches.h"

#include <algorithm>
#include <numeric>

namespace espalier {

Batches::Batches(const Dataset& data, int batch_size, Random random)
    : data_(data), batch_size_(batch_size), random_(random), order_(data.num_rows) {
  std::iota(order_.begin(), order_.end(), 0u);
}

std::int64_t Batches::steps_per_epoch() const {
  return (num_rows() + batch_size_ - 1) / batch_size_;
}

void Batches::next_epoch() { random_.shuffle(std::span(order_)); }

std::int64_t Batches::rows_before(std::int64_t step) const {
  return std::min(step * batch_size_, num_rows());
}

Batch Batches::batch(std::int64_t step) const {
  const std::int64_t begin = rows_before(step), end = rows_before(step + 1);
  return {&data_, std::span(order_).subspan(static_cast<std::size_t>(begin),
                                            static_cast<std::size_t>(end - begin))};
}

}  // namespace espalier
