// SPDX-License-Identifier: Apache-2.0
// Projection of a table of any sizes onto tables that are increasing along some dimensions:
//
//   argmin_x  sum_i w_i (x_i - values_i)^2   subject to   x_i <= x_j along the lines of every rise
//
// Lines of one rise are disjoint, so pooling each line projects onto that rise. Dykstra's method
// iterates over the rises. Sweeps of maxima and minima repair what the last round and rounding to
// floats leave open, so that the result is exact.
#pragma once

#include <span>

#include "constraints/chain.h"
#include "constraints/inequalities.h"

namespace espalier {

struct GridProjection {
  // Stops when a round moves no value farther than this, times max(1, largest |value|).
  double tolerance = 1e-6;
  int max_rounds = 100;
};

// Values are finite. The inequalities hold exactly afterwards; a table in which they hold does not
// change. Returns the number of rounds.
int project_grid(std::span<float> values, std::span<const Rise> rises,
                 const ChainWeights& weights = {}, const GridProjection& options = {});

// Moves every value halfway between the largest value that must not exceed it and the smallest
// value that it must not exceed. Exact, but not the nearest table: a final repair.
void finish_grid(std::span<float> values, std::span<const Rise> rises);

}  // namespace espalier
