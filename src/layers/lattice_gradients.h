// SPDX-License-Identifier: Apache-2.0
// The gradient of multilinear interpolation over tiles of rows; as layers/kernels.h, the same bits
// from every instruction set. It rounds in other places than layers/lattice_kernels.h, where the
// order of operations keeps values monotone: here it only saves time.
#pragma once

#include <cstddef>

#include "layers/tile.h"

namespace espalier {

/// theta[2^size] -> coefficients[2^size], as lattice_backward wants them: polynomials of blocks.
void lattice_coefficients(const float* theta, int size, float* coefficients);

/// Floats of scratch that lattice_backward needs.
std::size_t lattice_scratch(int size);

/// Adds to the gradient of theta and overwrites that of x.
void lattice_backward(const float* coefficients, int size, const float* x, const float* grad_out,
                      float* grad_x, float* grad_theta, float* scratch);

}  // namespace espalier
