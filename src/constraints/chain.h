// SPDX-License-Identifier: Apache-2.0
// Projection onto non-decreasing sequences, for monotone calibrators:
//
//   argmin_x  sum_i (x_i - values_i)^2   subject to   x_0 <= x_1 <= ... (and lo <= x_i <= hi)
//
// by pooling adjacent violators. Clipping afterwards gives exactly the projection with bounds.
#pragma once

#include <span>

namespace espalier {

// Values are finite. The result is non-decreasing exactly, as floats; a sequence that already is
// stays as it is. Takes time linear in the length, and memory from the heap only for long
// sequences.
void project_chain(std::span<float> values);
void project_chain(std::span<float> values, float lo, float hi);

}  // namespace espalier
