// SPDX-License-Identifier: Apache-2.0
// Projection onto non-decreasing sequences, for monotone calibrators:
//
//   argmin_x  sum_i w_i (x_i - values_i)^2   subject to   x_0 <= x_1 <= ... (and lo <= x_i <= hi)
//
// by pooling adjacent violators. Clipping afterwards gives exactly the projection with bounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace espalier {

// The divisors of Adam's steps, as weights of the projection. With them, a pool of values moves by
// the sum of their gradients, however rare the rows of some values are. With equal weights, rare
// values, whose steps Adam enlarges, would dominate the others.
struct ChainWeights {
  // Second moments of the gradients, one per value; null: equal weights.
  const float* variance = nullptr;
  float correction = 1;  // of the variance
  float epsilon = 0;

  double operator[](std::size_t i) const {
    if (variance == nullptr) return 1;
    return std::max(std::sqrt(correction * variance[i]) + epsilon,
                    std::numeric_limits<float>::min());
  }
};

// Values are finite. The result is exactly non-decreasing, as floats; a non-decreasing sequence
// does not change. Linear time; heap memory for long sequences only.
void project_chain(std::span<float> values, const ChainWeights& weights = {});

// The same in double, with a positive weight per value.
void project_chain(std::span<double> values, std::span<const double> weights);

}  // namespace espalier
