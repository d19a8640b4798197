// SPDX-License-Identifier: Apache-2.0
// Projection of a table onto those that never fall along some of its dimensions, of any sizes:
//
//   argmin_x  sum_i w_i (x_i - values_i)^2   subject to   x_i <= x_j along the lines of every rise
//
// Lines of one rise share no value, so that pooling each of them is the projection onto that rise;
// Dykstra's method goes round the rises. What its last round leaves open, and rounding to floats,
// is set right by sweeps of maxima and minima, which land exactly.
#pragma once

#include <span>

#include "constraints/chain.h"
#include "constraints/inequalities.h"

namespace espalier {

struct GridProjection {
  // Stops when a round moves no value farther than this, times the largest |value| if that is
  // above 1.
  double tolerance = 1e-6;
  int max_rounds = 100;
};

// Values are finite. The inequalities hold exactly afterwards; a table in which they do stays as it
// is. Returns the number of rounds.
int project_grid(std::span<float> values, std::span<const Rise> rises,
                 const ChainWeights& weights = {}, const GridProjection& options = {});

// Every value halfway between the largest of those that may not lie above it and the least of those
// that may not lie below. Exact, but not near: a finish.
void finish_grid(std::span<float> values, std::span<const Rise> rises);

}  // namespace espalier
