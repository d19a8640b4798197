// SPDX-License-Identifier: Apache-2.0
// The hot loops, compiled for AVX-512, AVX2 and plain scalar code and chosen at run time. All three
// give the same bits: the operations of one result and their order are fixed, a*b+c is always
// fused, and sums over the rows of a tile run over 16 fixed lanes that are folded in a fixed order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/aligned.h"
#include "layers/tile.h"
#include "layers/tree_plan.h"

namespace espalier {

/// Piecewise linear interpolation of table[0 .. last] at positions in [0, last], last >= 1. What it
/// writes for a negative position, a missing cell, means nothing.
void interpolate(const float* table, int last, const float* positions, float* out);

/// Adds the gradient of the table. A negative position is a missing cell and adds nothing.
void interpolate_backward(int last, const float* positions, const float* grad_out,
                          float* grad_table);

/// Keypoints 0 .. last evenly over the range[2], lo and hi; inverse_step is last / (hi - lo).
struct UniformKeypoints {
  int last;
  float lo;
  float hi;
  float inverse_step;
};
inline UniformKeypoints uniform_keypoints(int last, const float* range) {
  return {last, range[0], range[1], static_cast<float>(last) / (range[1] - range[0])};
}

/// Calibrators with uniform keypoints, one per wire: tables[count][last + 1], ranges[count][2].
struct UniformUnits {
  int last;
  std::size_t count;
  const float* tables;
  const float* ranges;
};

/// Interpolation at the positions clamp((in - lo) * inverse_step, 0, last), over a tile.
void calibrate(const UniformUnits& units, const float* in, float* out);

/// Adds the gradient of the tables and overwrites that of in.
void calibrate_backward(const UniformUnits& units, const float* in, const float* grad_out,
                        float* grad_tables, float* grad_in);

/// One number input of a linear layer: its wire, and where its weight to output 0 would lie.
struct LinearTerm {
  std::ptrdiff_t weight;
  std::ptrdiff_t wire;
};

/// out[o][r] += sum over terms of params[term.weight + o] * in[term.wire][r], over a tile, for the
/// outputs o in [first, last), the terms in order.
void add_terms(const LinearTerm* terms, std::size_t num_terms, const float* params, int first,
               int last, const float* in, float* out);

/// out[r] = sum over i < n of weights[i] * wires[i][r], over a tile.
void weighted_sum(const float* weights, const float* wires, std::size_t n, float* out);

/// out[i] += sum over the rows r of a tile of x[r] * rows[r * stride + i], i < n.
void add_outer(const float* x, const float* rows, std::size_t stride, std::size_t n, float* out);

/// out[i] += sum over the rows r of a tile of wires[i][r], i < n.
void add_row_sums(const float* wires, std::size_t n, float* out);

/// out[i] = first[i] + rows[0][i] + rows[1][i] + ..., begin <= i < end, in that order.
void sum_of_rows(const float* first, const float* const* rows, std::size_t num_rows,
                 std::size_t begin, std::size_t end, float* out);

/// The same for rows that pick(k), k < num_rows, points at.
inline constexpr std::size_t kPicked = 16;  // at once
template <class Pick>
void sum_of_picked(const float* first, std::size_t num_rows, Pick&& pick, std::size_t begin,
                   std::size_t end, float* out) {
  const float* rows[kPicked];
  std::size_t k = 0;
  do {
    const std::size_t count = std::min(kPicked, num_rows - k);
    for (std::size_t i = 0; i < count; ++i) rows[i] = pick(k + i);
    sum_of_rows(first, rows, count, begin, end, out);
    first = out;
    k += count;
  } while (k < num_rows);
}

/// Bit r: row r of a wire has this value.
std::uint64_t rows_equal(float value, const float* wire);
static_assert(kTile == 64);

/// The answers of all rows of a tile to each question, 64 bits in two floats: see tree_tiles.h.
void answers_of_tile(const TreeQuestion* questions, std::size_t count, const float* in,
                     float* answers);

/// out[i] += x[i], n floats.
void add(const float* x, float* out, std::size_t n);

/// out[i] = fma(weight, x[i], out[i]), n floats.
void add_scaled(float weight, const float* x, float* out, std::size_t n);

/// out[i] = in[i] clipped to [0, 1], n floats, a multiple of 16; and its gradient: grad[i] becomes
/// 0 where in[i] was clipped.
void clip_to_unit(const float* in, std::size_t n, float* out);
void keep_where_unit(const float* in, std::size_t n, float* grad);

/// in[rows][in_stride], of which the first columns count -> out[columns][out_stride].
void transpose_matrix(const float* in, std::ptrdiff_t in_stride, int rows, int columns, float* out,
                      std::ptrdiff_t out_stride);

/// wires[n][kTile] -> rows[kTile][padded(n)], and back.
inline void tile_to_rows(const float* wires, int n, float* rows) {
  transpose_matrix(wires, kTile, n, kTile, rows, padded(n));
}
inline void rows_to_tile(const float* rows, int n, float* wires) {
  transpose_matrix(rows, padded(n), kTile, n, wires, kTile);
}

}  // namespace espalier
