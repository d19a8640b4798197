// SPDX-License-Identifier: Apache-2.0
// Projection onto bounds: each value goes to its nearest bound. A NaN stays, so that a check finds
// it.
#pragma once

#include <span>

namespace espalier {

// lo <= hi; values end in [lo, hi].
inline void clip(std::span<float> values, float lo, float hi) {
  for (float& value : values) {
    const float raised = lo > value ? lo : value;
    value = hi < raised ? hi : raised;
  }
}

inline void clip_below(std::span<float> values, float lo) {
  for (float& value : values) value = lo > value ? lo : value;
}

}  // namespace espalier
