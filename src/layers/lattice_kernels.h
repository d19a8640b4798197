// SPDX-License-Identifier: Apache-2.0
// Multilinear interpolation of lattices over tiles of rows, and its gradient; as layers/kernels.h,
// the same bits from every instruction set.
//
// The table is folded along one input after the other, input 0 first: a node of the tree is
// fma(x, right - left, left). Forwards the table is given as slopes: theta[2k] and
// theta[2k+1] - theta[2k] for each pair of leaves, so that the first fold needs no subtraction.
// Gradients need no such order and are computed in ways that take less time.
#pragma once

#include <cstddef>

#include "layers/layer.h"

namespace espalier {

/// The most inputs of one lattice.
inline constexpr int kMaxLatticeSize = 20;

/// theta[2^size] -> slopes[2^size].
void lattice_slopes(const float* theta, int size, float* slopes);

/// slopes[2^size] at x[size][kTile], within [0, 1].
void lattice_forward(const float* slopes, int size, const float* x, float* out);

/// theta[2^size] -> coefficients[2^size], as lattice_backward wants them: polynomials of blocks.
void lattice_coefficients(const float* theta, int size, float* coefficients);

/// Floats of scratch that lattice_backward needs.
std::size_t lattice_scratch(int size);

/// Adds to the gradient of theta and overwrites that of x.
void lattice_backward(const float* coefficients, int size, const float* x, const float* grad_out,
                      float* grad_x, float* grad_theta, float* scratch);

}  // namespace espalier
