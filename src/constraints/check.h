// SPDX-License-Identifier: Apache-2.0
// The results of exact checks of inequalities with tolerance 0, for the verification of
// monotonicity. Every comparison is `low <= high` as floats, so a NaN violates all of its
// inequalities.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace espalier {

struct Check {
  std::size_t inequalities = 0;
  std::size_t violations = 0;

  Check& operator+=(const Check& other) {
    inequalities += other.inequalities;
    violations += other.violations;
    return *this;
  }
};

// A violated inequality `low <= high` and its positions i and j; i == j if one side is a bound.
struct Culprit {
  std::size_t i = 0;
  std::size_t j = 0;
  float low = 0;
  float high = 0;
};

struct IgnoreCulprits {
  void operator()(const Culprit&) const {}
};

template <class Visitor>
void check_inequality(Check& check, const Culprit& pair, Visitor&& visit) {
  ++check.inequalities;
  if (pair.low <= pair.high) return;
  ++check.violations;
  visit(pair);
}

// |values[i]| <= the largest float.
template <class Visitor = IgnoreCulprits>
Check check_finite(std::span<const float> values, Visitor&& visit = {}) {
  Check check;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Culprit pair = {i, i, std::fabs(values[i]), std::numeric_limits<float>::max()};
    check_inequality(check, pair, visit);
  }
  return check;
}

}  // namespace espalier
