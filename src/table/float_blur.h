// SPDX-License-Identifier: Apache-2.0
// floats_blur of espalier/table.h for numbers that come one after another.
//
// A part of numbers that blur blurs too, unless one of them is infinite: so once they do not blur,
// they never will again.
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
        // Of two values one is the least and one the largest.
        more_than_two_ = more_than_two_ || lo_ < hi_;
      } else {
        more_than_two_ = more_than_two_ || (value > lo_ && value < hi_);
      }
      lo_ = std::fmin(lo_, value);
      hi_ = std::fmax(hi_, value);
    }
  }

  /// Numbers that came elsewhere.
  void add(const FloatBlur& other) noexcept {
    const float ends[] = {other.lo_, other.hi_};
    add(ends);
    more_than_two_ = more_than_two_ || other.more_than_two_;
    has_infinity_ = has_infinity_ || other.has_infinity_;
  }

  bool blurs() const noexcept {
    // Beyond this the spread of the values has 16 bits or more of a float's 24.
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
