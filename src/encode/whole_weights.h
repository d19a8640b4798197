// SPDX-License-Identifier: Apache-2.0
// Exact sums of weights.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/large_vector.h"

namespace espalier {

/// Weights as integer multiples of a unit, so that sums are exact and do not depend on the order of
/// rows or on their division among ranks. The unit is the smallest for which no sum overflows.
class WholeWeights {
 public:
  explicit WholeWeights(const LargeVector<float>& weights) : weights_(weights) {
    const float largest = weights.empty() ? 0 : *std::ranges::max_element(weights);
    constexpr int kBits = 61;
    if (largest > 0) unit_ = std::ilogb(largest) - kBits + std::bit_width(weights.size());
  }

  std::int64_t operator[](std::size_t row) const {
    return weights_.empty() ? 1 : std::llrint(std::ldexp(double{weights_[row]}, -unit_));
  }
  double in_weight(std::int64_t sum) const { return std::ldexp(static_cast<double>(sum), unit_); }

 private:
  const LargeVector<float>& weights_;
  int unit_ = 0;
};

}  // namespace espalier
