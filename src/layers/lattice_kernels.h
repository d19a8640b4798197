// SPDX-License-Identifier: Apache-2.0
// Multilinear interpolation of lattices over tiles of rows; as layers/kernels.h, the same bits from
// every instruction set.
//
// The table is folded along one input after the other, input 0 first: a node of the tree is
// fma(x, right - left, left). The kernel takes the table as slopes: theta[2k] and
// theta[2k+1] - theta[2k] for each pair of leaves, so that the first fold needs no subtraction.
#pragma once

#include <cstddef>

#include "layers/tile.h"

namespace espalier {

/// The most inputs of one lattice.
inline constexpr int kMaxLatticeSize = 20;

/// theta[2^size] -> slopes[2^size].
void lattice_slopes(const float* theta, int size, float* slopes);

/// slopes[2^size] at x[size][kTile], within [0, 1].
void lattice_forward(const float* slopes, int size, const float* x, float* out);

}  // namespace espalier
