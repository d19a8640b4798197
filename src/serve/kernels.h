// SPDX-License-Identifier: Apache-2.0
// The hot loops of serving. For one row a lane is a unit (an output, a calibrator, a lattice),
// where for a tile, here and in layers/kernels.h, a lane is a row. Each result takes the same
// operations in the same order in both, so both give the same bits, for every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "layers/kernels.h"
#include "serve/program.h"

namespace espalier {

/// x, n floats: fma(range, x - 1, low), the way back from [1, 2].
void leave_binade(float range, float low, float* x, std::size_t n);

/// out[i] = fma(ranges[i], y[i] - 1, lows[i]), n floats.
void leave_binades(const float* ranges, const float* lows, const float* y, std::size_t n,
                   float* out);

/// Wire i through cells[i], over a tile and over one row.
void cells_of_tile(std::span<const CellTable> cells, const float* in, float* out);
void cells_of_row(std::span<const CellTable> cells, const float* in, float* out);

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

/// `count` units over one row; in and out are padded.
void calibrate_row(const UniformTables& units, std::size_t count, const float* in, float* out);

/// Some outputs of a linear step for one row: out[i] = start[i] + picked[0][i] + ..., then
/// fma(weights[term.weight + i], in[term.wire], .) for each term.
struct LinearRow {
  const float* start;
  const float* const* picked;
  std::size_t num_picked;
  const float* weights;
  const LinearTerm* terms;
  std::size_t num_terms;
};
void linear_row(const LinearRow& row, const float* in, std::size_t n, float* out);

/// sum + the terms of output 0, in order: add_terms for one row.
float add_terms_of_row(const LinearTerm* terms, std::size_t num_terms, const float* params,
                       const float* in, float sum);

/// Blocks of sixteen lattices. slopes: [block][2^size][16], each lane as lattice_slopes makes it;
/// x: [block][size][16], clipped to [0, 1] here; out: [block][16], within [1, 2].
void lattice_row(const float* slopes, int size, std::size_t blocks, const float* x, float* out);

/// One lattice: theta[2^size] at x[size], clipped to [0, 1]; theta is overwritten.
float fold_in_place(float* theta, int size, const float* x);

}  // namespace espalier
