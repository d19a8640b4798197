// SPDX-License-Identifier: Apache-2.0
// Gradients as integers, so that sums of them are exact: neither the order in which rows are added
// nor the number of threads changes a sum, and sums can be subtracted without a trace.
#pragma once

#include <cstdint>

namespace espalier {

/// Gradient and hessian of the loss of a row, in units that all rows share.
struct GradientPair {
  std::int32_t gradient = 0;
  std::int32_t hessian = 0;
};

/// The sum over some rows.
struct GradientSums {
  std::int64_t gradient = 0;
  std::int64_t hessian = 0;

  GradientSums& operator+=(const GradientSums& other) {
    gradient += other.gradient;
    hessian += other.hessian;
    return *this;
  }
  GradientSums& operator-=(const GradientSums& other) {
    gradient -= other.gradient;
    hessian -= other.hessian;
    return *this;
  }
  GradientSums& operator+=(const GradientPair& row) {
    return *this += GradientSums{row.gradient, row.hessian};
  }
  friend GradientSums operator-(GradientSums a, const GradientSums& b) { return a -= b; }
  friend bool operator==(const GradientSums&, const GradientSums&) = default;

  bool is_zero() const { return gradient == 0 && hessian == 0; }
};

}  // namespace espalier
