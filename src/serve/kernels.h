// SPDX-License-Identifier: Apache-2.0
// The hot loops of serving. For one row a lane is a unit (an output, a calibrator, a lattice),
// where for a tile, here and in layers/kernels.h, a lane is a row. Each result takes the same
// operations in the same order in both, so both give the same bits, for every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "layers/kernels.h"

namespace espalier {

/// x, n floats: fma(range, x - 1, low), the way back from [1, 2].
void leave_binade(float range, float low, float* x, std::size_t n);

/// Calibrators with uniform keypoints, one array entry per unit, padded to whole blocks of 16.
struct UniformTables {
  const float* lo;            // of the input range
  const float* inverse_step;  // keypoints a unit of the input
  const float* tables;        // [unit][last + 1], within [1, 2]
  const float* range;         // of the outputs, to leave [1, 2]
  const float* low;
  int last;
};

/// `count` units over a tile.
void calibrate_tile(const UniformTables& units, std::size_t count, const float* in, float* out);

/// One row of sixteen units from `first`, a multiple of 16, on.
void calibrate_row(const UniformTables& units, std::size_t first, const float* in, float* out);

/// sum + the terms of output 0, in order: add_terms for one row.
float add_terms_of_row(const LinearTerm* terms, std::size_t num_terms, const float* params,
                       const float* in, float sum);

/// Sixteen lattices at once. theta: [2^size][16], x: [size][16], tree: 16 * 2^size / 2 floats, out:
/// [16].
void lattice_row(const float* theta, int size, const float* x, float* tree, float* out);

/// One lattice: theta[2^size] at x[size]; theta is overwritten.
float fold_in_place(float* theta, int size, const float* x);

}  // namespace espalier
