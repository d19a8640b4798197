// SPDX-License-Identifier: Apache-2.0
#include "serve/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "hwy/base.h"
#include "layers/cell_table.h"
#include "layers/instruction_sets.h"
#include "layers/lattice_kernels.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "serve/kernels.cc"
// clang-format off: the order matters
#include "hwy/foreach_target.h"
#include "layers/v16.h"
// clang-format on

#ifndef ESPALIER_COPY_ENDS
#define ESPALIER_COPY_ENDS
namespace espalier {

// ends[2 u], ends[2 u + 1] = the values at k[u] and k[u] + 1 in table u. Outside of what is
// compiled for wide registers: there the compiler makes the addresses in one and takes them apart
// again.
static HWY_NOINLINE void copy_ends(const float* tables, std::size_t stride, const std::int32_t* k,
                                   std::size_t count, float* ends) {
  for (std::size_t u = 0; u < count; ++u, tables += stride)
    std::memcpy(ends + 2 * u, tables + k[u], 2 * sizeof(float));
}

}  // namespace espalier
#endif

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

void leave_binade(float range, float low, float* x, std::size_t n) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) store(fma(set(range), load(x + i) - set(1), set(low)), x + i);
  for (; i < n; ++i) x[i] = std::fma(range, x[i] - 1, low);
}

void leave_binades(const float* ranges, const float* lows, const float* y, std::size_t n,
                   float* out) {
  each_16(n, [&](std::size_t i, auto lanes) HWY_ATTR {
    const V16 moved = load(y + i, lanes) - set(1);
    store(fma(load(ranges + i, lanes), moved, load(lows + i, lanes)), out + i, lanes);
  });
}

void cells_of_tile(std::span<const CellTable> cells, const float* in, float* out) {
  for (const CellTable& cell : cells) {
    for (int r = 0; r < kTile; ++r) *out++ = through(cell, *in++);
  }
}

void cells_of_row(std::span<const CellTable> cells, const float* in, float* out) {
  for (std::size_t i = 0; i < cells.size(); ++i) out[i] = through(cells[i], in[i]);
}

template <class Table>
HWY_INLINE void calibrate_tile_by(const Table& table, const UniformTables& units, std::size_t u,
                                  const float* in, float* out) {
  const V16 lo = set(units.lo[u]), inverse_step = set(units.inverse_step[u]);
  const V16 range = set(units.range[u]), low = set(units.low[u]);
  for (int r = 0; r < kTile; r += 16) {
    const Place at = uniform_place(load(in + r), lo, inverse_step, units.last);
    store(fma(range, read_table(table, at) - set(1), low), out + r);
  }
}

void calibrate_tile(const UniformTables& units, std::size_t count, const float* in, float* out) {
  const float* table = units.tables;
  for (std::size_t u = 0; u < count; ++u, table += units.last + 1, in += kTile, out += kTile) {
    if (units.last <= kRegisterSegments) {
      calibrate_tile_by(RegisterTable(table, units.last), units, u, in, out);
    } else {
      calibrate_tile_by(MemoryTable(table, units.last), units, u, in, out);
    }
  }
}

// Places first, then the two ends of each segment, then the interpolation: the ends are copied one
// by one, and read as whole registers when they have arrived in memory.
void calibrate_row(const UniformTables& units, std::size_t count, const float* in, float* out) {
  constexpr std::size_t kUnits = 128;
  std::int32_t k[kUnits];
  float t[kUnits], ends[2 * kUnits];
  const auto stride = static_cast<std::size_t>(units.last + 1);
  for (std::size_t first = 0; first < count; first += kUnits) {
    const std::size_t now = std::min(kUnits, (count - first + 15) / 16 * 16);
    for (std::size_t u = 0; u < now; u += 16) {
      const std::size_t unit = first + u;
      const Place at = uniform_place(load(in + unit), load(units.lo + unit),
                                     load(units.inverse_step + unit), units.last);
      store(at.k, k + u);
      store(at.t, t + u);
    }
    copy_ends(units.tables + first * stride, stride, k, now, ends);
    for (std::size_t u = 0; u < now; u += 16) {
      const std::size_t unit = first + u;
      V16 a, b;
      load_pairs(ends + 2 * u, a, b);
      const V16 y = fma(load(t + u), b - a, a);
      store(fma(load(units.range + unit), y - set(1), load(units.low + unit)), out + unit);
    }
  }
}

// `Vectors` times 16 outputs, the last ones `lanes` (a number, or all).
template <int Vectors, class Lanes>
HWY_INLINE void linear_outputs(const LinearRow& row, const float* in, std::size_t i, Lanes lanes,
                               float* out) {
  V16 sums[Vectors];
  for (int v = 0; v < Vectors; ++v) sums[v] = load(row.start + i + 16 * v, lanes);
  for (std::size_t p = 0; p < row.num_picked; ++p) {
    const float* picked = row.picked[p] + i;
    for (int v = 0; v < Vectors; ++v) sums[v] = sums[v] + load(picked + 16 * v, lanes);
  }
  for (const LinearTerm* term = row.terms; term != row.terms + row.num_terms; ++term) {
    const float* weights = row.weights + term->weight + i;
    const V16 x = set(in[term->wire]);
    for (int v = 0; v < Vectors; ++v) sums[v] = fma(x, load(weights + 16 * v, lanes), sums[v]);
  }
  for (int v = 0; v < Vectors; ++v) store(sums[v], out + i + 16 * v, lanes);
}

void linear_row(const LinearRow& row, const float* in, std::size_t n, float* out) {
  std::size_t i = 0;
  for (; i + 64 <= n; i += 64) linear_outputs<4>(row, in, i, AllLanes{}, out);
  for (; i + 16 <= n; i += 16) linear_outputs<1>(row, in, i, AllLanes{}, out);
  if (i < n) linear_outputs<1>(row, in, i, n - i, out);
}

float add_terms_of_row(const LinearTerm* terms, std::size_t num_terms, const float* params,
                       const float* in, float sum) {
  for (const LinearTerm* term = terms; term != terms + num_terms; ++term) {
    sum = std::fma(params[term->weight], in[term->wire], sum);
  }
  return sum;
}

HWY_INLINE V16 fold_lanes_along(const float* x, int d, V16 left, V16 right) {
  return fma(clamp(load(x + 16 * d), set(0), set(1)), right - left, left);
}

// The node over the first `Inputs` inputs, depth first; slopes: [2^Inputs][16].
template <int Inputs>
ESPALIER_UNROLLED V16 tree_of_lanes(const float* slopes, const float* x) {
  if constexpr (Inputs == 1) {
    return fma(clamp(load(x), set(0), set(1)), load(slopes + 16), load(slopes));
  } else {
    const V16 left = tree_of_lanes<Inputs - 1>(slopes, x);
    const V16 right = tree_of_lanes<Inputs - 1>(slopes + (8 << Inputs), x);
    return fold_lanes_along(x, Inputs - 1, left, right);
  }
}

// Blocks one after the other; a finished pair of subtrees is folded at once, as a counter carries.
HWY_INLINE V16 tree_of_blocks_of_lanes(const float* slopes, int size, const float* x) {
  constexpr int kBlock = 4;
  V16 waiting[kMaxLatticeSize + 1];
  for (std::size_t block = 0; block < std::size_t{1} << (size - kBlock); ++block) {
    V16 node = tree_of_lanes<kBlock>(slopes + (block << (kBlock + 4)), x);
    int inputs = kBlock;
    for (std::size_t carry = block; (carry & 1) != 0; carry >>= 1, ++inputs)
      node = fold_lanes_along(x, inputs, waiting[inputs], node);
    waiting[inputs] = node;
  }
  return waiting[size];
}

HWY_INLINE V16 lattices_at(const float* slopes, int size, const float* x) {
  switch (size) {
    case 1:
      return tree_of_lanes<1>(slopes, x);
    case 2:
      return tree_of_lanes<2>(slopes, x);
    case 3:
      return tree_of_lanes<3>(slopes, x);
    case 5:
      return tree_of_lanes<5>(slopes, x);
    default:
      return tree_of_blocks_of_lanes(slopes, size, x);
  }
}

void lattice_row(const float* slopes, int size, std::size_t blocks, const float* x, float* out) {
  for (; blocks > 0; --blocks, slopes += std::size_t{16} << size, x += 16 * size, out += 16)
    store(lattices_at(slopes, size, x), out);
}

float fold_in_place(float* theta, int size, const float* x) {
  std::size_t nodes = std::size_t{1} << size;
  for (int d = 0; d < size; ++d) {
    nodes /= 2;
    const float xd = std::min(std::max(x[d], 0.0f), 1.0f);
    for (std::size_t k = 0; k < nodes; ++k) {
      theta[k] = std::fma(xd, theta[2 * k + 1] - theta[2 * k], theta[2 * k]);
    }
  }
  return theta[0];
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier {

HWY_EXPORT(leave_binade);
HWY_EXPORT(leave_binades);
HWY_EXPORT(cells_of_tile);
HWY_EXPORT(cells_of_row);
HWY_EXPORT(calibrate_tile);
HWY_EXPORT(calibrate_row);
HWY_EXPORT(linear_row);
HWY_EXPORT(add_terms_of_row);
HWY_EXPORT(lattice_row);
HWY_EXPORT(fold_in_place);

void leave_binade(float range, float low, float* x, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(leave_binade)(range, low, x, n);
}
void leave_binades(const float* ranges, const float* lows, const float* y, std::size_t n,
                   float* out) {
  HWY_DYNAMIC_DISPATCH(leave_binades)(ranges, lows, y, n, out);
}
void cells_of_tile(std::span<const CellTable> cells, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(cells_of_tile)(cells, in, out);
}
void cells_of_row(std::span<const CellTable> cells, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(cells_of_row)(cells, in, out);
}
void calibrate_tile(const UniformTables& units, std::size_t count, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(calibrate_tile)(units, count, in, out);
}

void calibrate_row(const UniformTables& units, std::size_t count, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(calibrate_row)(units, count, in, out);
}
void linear_row(const LinearRow& row, const float* in, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(linear_row)(row, in, n, out);
}
float add_terms_of_row(const LinearTerm* terms, std::size_t num_terms, const float* params,
                       const float* in, float sum) {
  return HWY_DYNAMIC_DISPATCH(add_terms_of_row)(terms, num_terms, params, in, sum);
}
void lattice_row(const float* slopes, int size, std::size_t blocks, const float* x, float* out) {
  HWY_DYNAMIC_DISPATCH(lattice_row)(slopes, size, blocks, x, out);
}
float fold_in_place(float* theta, int size, const float* x) {
  return HWY_DYNAMIC_DISPATCH(fold_in_place)(theta, size, x);
}

}  // namespace espalier
#endif  // HWY_ONCE
