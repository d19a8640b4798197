// SPDX-License-Identifier: Apache-2.0
// The inequalities between the numbers of one unit (a calibrator, a lattice, the weights of an
// input) as one list. Projections and checks read the same list.
//
//   Bounds   lo <= values[i] <= hi
//   Rise     values[i] <= values[i + step] along lines of values
//   Order    values[low] <= values[high]
//
// Every comparison is `low <= high` as floats, with tolerance 0; a NaN violates all of its
// inequalities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "constraints/check.h"

namespace espalier {

/// Bounds of values[first .. first + count). An infinite bound is no bound and is not counted.
struct Bounds {
  std::size_t first = 0;
  std::size_t count = 0;
  float lo = -std::numeric_limits<float>::infinity();
  float hi = std::numeric_limits<float>::infinity();
};

/// Lines along which values are increasing: each has `length` values, `step` apart. They begin at
///   first + block * pitch + lane,   lane < lanes, block < blocks.
/// A calibrator is one line. The lines of a lattice along one dimension are blocks with as many
/// lanes as the stride, [blocks][length][lanes]. A line with a negative step runs backwards, which
/// allows decreasing parts of a curve.
struct Rise {
  std::size_t first = 0;
  std::size_t length = 0;
  std::ptrdiff_t step = 1;
  std::size_t lanes = 1;
  std::size_t blocks = 1;
  std::size_t pitch = 0;  // 0: length * step, without gaps between blocks

  /// Value k of a line.
  std::size_t at(std::size_t block, std::size_t lane, std::size_t k) const {
    const auto apart =
        pitch > 0 ? static_cast<std::ptrdiff_t>(pitch) : static_cast<std::ptrdiff_t>(length) * step;
    const auto along =
        static_cast<std::ptrdiff_t>(block) * apart + static_cast<std::ptrdiff_t>(k) * step;
    return first + lane + static_cast<std::size_t>(along);
  }
};

/// An order between two values that are not on a common line. It leads from a value to a later one.
struct Order {
  std::uint32_t low = 0;
  std::uint32_t high = 0;

  friend bool operator==(const Order&, const Order&) = default;
};

struct InequalityList {
  std::span<const Bounds> bounds = {};
  std::span<const Rise> rises = {};
  std::span<const Order> orders = {};
};

/// Clips each value to its bounds. A NaN stays, so that a check finds it.
inline void clip(std::span<float> values, const Bounds& bounds) {
  const float lo = bounds.lo, hi = bounds.hi;
  for (float& value : values.subspan(bounds.first, bounds.count)) {
    const float raised = lo > value ? lo : value;
    value = hi < raised ? hi : raised;
  }
}

/// Calls visit(culprit) for each violated inequality.
template <class Visitor = IgnoreCulprits>
Check check_bounds(std::span<const float> values, const Bounds& bounds, Visitor&& visit = {}) {
  constexpr float kNone = std::numeric_limits<float>::infinity();
  Check check;
  for (std::size_t i = bounds.first; i < bounds.first + bounds.count; ++i) {
    if (bounds.lo > -kNone) check_inequality(check, {i, i, bounds.lo, values[i]}, visit);
    if (bounds.hi < kNone) check_inequality(check, {i, i, values[i], bounds.hi}, visit);
  }
  return check;
}

template <class Visitor = IgnoreCulprits>
Check check_rise(std::span<const float> values, const Rise& rise, Visitor&& visit = {}) {
  Check check;
  for (std::size_t block = 0; block < rise.blocks; ++block) {
    for (std::size_t k = 0; k + 1 < rise.length; ++k) {
      for (std::size_t lane = 0; lane < rise.lanes; ++lane) {
        const std::size_t low = rise.at(block, lane, k);
        const std::size_t high = rise.at(block, lane, k + 1);
        check_inequality(check, {low, high, values[low], values[high]}, visit);
      }
    }
  }
  return check;
}

template <class Visitor = IgnoreCulprits>
Check check_orders(std::span<const float> values, std::span<const Order> orders,
                   Visitor&& visit = {}) {
  Check check;
  for (const auto [low, high] : orders)
    check_inequality(check, {low, high, values[low], values[high]}, visit);
  return check;
}

template <class Visitor = IgnoreCulprits>
Check check_inequalities(std::span<const float> values, const InequalityList& list,
                         Visitor&& visit = {}) {
  Check total;
  for (const Bounds& bounds : list.bounds) total += check_bounds(values, bounds, visit);
  for (const Rise& rise : list.rises) total += check_rise(values, rise, visit);
  total += check_orders(values, list.orders, visit);
  return total;
}

}  // namespace espalier
