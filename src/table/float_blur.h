// SPDX-License-Identifier: Apache-2.0
// Computes floats_blur of espalier/table.h in one pass over numbers.
//
// If a set of numbers blurs, so does each subset, unless it has an infinity. So once the numbers so
// far do not blur, all of them together do not.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace espalier {

class FloatBlur {
 public:
  void add(std::span<const float> values) noexcept {
    for (const float value : values) {
      if (std::isinf(value)) has_infinity_ = true;
      if (value < lo_ || value > hi_) {
        // Of two distinct values, one is the minimum and one the maximum.
        more_than_two_ = more_than_two_ || lo_ < hi_;
      } else {
        more_than_two_ = more_than_two_ || (value > lo_ && value < hi_);
      }
      lo_ = std::fmin(lo_, value);
      hi_ = std::fmax(hi_, value);
    }
  }

  /// Adds numbers that were seen elsewhere.
  void add(const FloatBlur& other) noexcept {
    const float ends[] = {other.lo_, other.hi_};
    add(ends);
    more_than_two_ = more_than_two_ || other.more_than_two_;
    has_infinity_ = has_infinity_ || other.has_infinity_;
  }

  bool blurs() const noexcept {
    // The spread of the values then has at least 16 of the 24 bits of a float.
    constexpr float kCloseTogether = 1.0f / 256;
    return has_infinity_ || !more_than_two_ ||
           hi_ - lo_ < kCloseTogether * std::max(std::abs(lo_), std::abs(hi_));
  }

 private:
  float lo_ = std::numeric_limits<float>::quiet_NaN();
  float hi_ = std::numeric_limits<float>::quiet_NaN();
  bool has_infinity_ = false;
  bool more_than_two_ = false;
};

}  // namespace espalier
