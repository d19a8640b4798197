// SPDX-License-Identifier: Apache-2.0
// Projections onto the monotone cone of a lattice with two vertices per side: theta is increasing
// along some dimensions.
//
// theta: [2^S], bit d of a vertex index is v[d]; rises: LatticeShape::cube(S).rise(d) of the
// monotone dimensions d. Values are finite. After each function the inequalities hold exactly.
// Clipping to [lo, hi] afterwards keeps the order and gives exactly the projection with bounds.
#pragma once

#include <span>

#include "constraints/inequalities.h"

namespace espalier {

// One pass that replaces each pair in the wrong order by its mean, dimension by dimension. The
// result is in the cone and has the same mean. The map is non-expansive and leaves points of the
// cone unchanged, but the result is not the nearest point of the cone.
void sweep_cube(std::span<float> theta, std::span<const Rise> rises);
void sweep_cube(std::span<double> theta, std::span<const Rise> rises);

struct CubeProjection {
  // Stops when an iteration moves no vertex farther than this, times max(1, largest |theta|).
  double tolerance = 1e-7;
  double relaxation = 1.5;  // in (0, 2); 1 is Hildreth's method
  int max_iterations = 100000;
};

// The nearest point of the cone by Dykstra's method: argmin_x sum_v (x_v - theta_v)^2. Works in
// double. Returns the number of iterations, 0 if theta was in the cone.
int project_cube(std::span<float> theta, std::span<const Rise> rises,
                 const CubeProjection& options = {});
int project_cube(std::span<double> theta, std::span<const Rise> rises,
                 const CubeProjection& options = {});

// The same point by the paper's method, consensus ADMM: a copy of theta per monotone dimension is
// projected onto the pairs of that dimension, and the copies are drawn together. Slower. Ignores
// options.relaxation.
int project_cube_by_admm(std::span<double> theta, std::span<const Rise> rises,
                         const CubeProjection& options = {});
int project_cube_by_admm(std::span<float> theta, std::span<const Rise> rises,
                         const CubeProjection& options = {});

}  // namespace espalier
