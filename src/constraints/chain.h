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

// What Adam divides the step of each value by: weights w under which its steps and the projection
// go together. A pool of values then moves by the sum of their gradients, however rare the rows of
// some; with equal weights the steps of rare values, which Adam enlarges, would outvote the others.
struct ChainWeights {
  // Of the gradients, one per value; null: all values weigh the same.
  const float* variance = nullptr;
  float correction = 1;  // of the variance
  float epsilon = 0;

  double operator[](std::size_t i) const {
    if (variance == nullptr) return 1;
    return std::max(std::sqrt(correction * variance[i]) + epsilon,
                    std::numeric_limits<float>::min());
  }
};

// Values are finite. The result is non-decreasing exactly, as floats; a sequence that already is
// stays as it is. Takes time linear in the length, and memory from the heap only for long
// sequences.
void project_chain(std::span<float> values, const ChainWeights& weights = {});

// The same in double, with a weight for each value, all positive.
void project_chain(std::span<double> values, std::span<const double> weights);

}  // namespace espalier
