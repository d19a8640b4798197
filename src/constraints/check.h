// SPDX-License-Identifier: Apache-2.0
// Exact checks of inequalities, tolerance 0: what the proof of monotonicity rests on. Every
// comparison is `low <= high` as floats, so a NaN violates all of its inequalities.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
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

// `low <= high` was wanted. i and j are where they stand; i == j where one of them is a bound.
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

// values[i] <= values[i + 1].
template <class Visitor = IgnoreCulprits>
Check check_chain(std::span<const float> values, Visitor&& visit = {}) {
  Check check;
  for (std::size_t i = 1; i < values.size(); ++i) {
    check_inequality(check, {i - 1, i, values[i - 1], values[i]}, visit);
  }
  return check;
}

// theta[v] <= theta[v + bit d] for every dimension d in monotone_dims; theta as in cube.h.
template <class Visitor = IgnoreCulprits>
Check check_cube(std::span<const float> theta, std::uint32_t monotone_dims, Visitor&& visit = {}) {
  Check check;
  for (std::size_t bit = 1; bit < theta.size(); bit *= 2) {
    if ((monotone_dims & bit) == 0) continue;
    for (std::size_t v = 0; v < theta.size(); ++v) {
      if ((v & bit) == 0) check_inequality(check, {v, v + bit, theta[v], theta[v + bit]}, visit);
    }
  }
  return check;
}

// lo <= values[i] <= hi: two inequalities a value.
template <class Visitor = IgnoreCulprits>
Check check_bounds(std::span<const float> values, float lo, float hi, Visitor&& visit = {}) {
  Check check;
  for (std::size_t i = 0; i < values.size(); ++i) {
    check_inequality(check, {i, i, lo, values[i]}, visit);
    check_inequality(check, {i, i, values[i], hi}, visit);
  }
  return check;
}

// 0 <= values[i].
template <class Visitor = IgnoreCulprits>
Check check_non_negative(std::span<const float> values, Visitor&& visit = {}) {
  Check check;
  for (std::size_t i = 0; i < values.size(); ++i) {
    check_inequality(check, {i, i, 0.0f, values[i]}, visit);
  }
  return check;
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
