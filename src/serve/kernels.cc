// SPDX-License-Identifier: Apache-2.0
#include "serve/kernels.h"

#include <cmath>

// The SSE targets have no fused multiply-add, so they would give other bits.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "serve/kernels.cc"
// clang-format off: the order matters
#include "hwy/foreach_target.h"
#include "layers/v16.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

void leave_binade(float range, float low, float* x, std::size_t n) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) store(fma(set(range), load(x + i) - set(1), set(low)), x + i);
  for (; i < n; ++i) x[i] = std::fma(range, x[i] - 1, low);
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

void calibrate_row(const UniformTables& units, std::size_t first, const float* in, float* out) {
  const Place at =
      uniform_place(load(in), load(units.lo + first), load(units.inverse_step + first), units.last);
  const float* tables = units.tables + first * static_cast<std::size_t>(units.last + 1);
  const V16 a = lookup_lanes(tables, at.k, units.last + 1);
  const V16 b = lookup_lanes(tables + 1, at.k, units.last + 1);
  const V16 y = fma(at.t, b - a, a);
  store(fma(load(units.range + first), y - set(1), load(units.low + first)), out);
}

float add_terms_of_row(const LinearTerm* terms, std::size_t num_terms, const float* params,
                       const float* in, float sum) {
  for (const LinearTerm* term = terms; term != terms + num_terms; ++term) {
    sum = std::fma(params[term->weight], in[term->wire], sum);
  }
  return sum;
}

void lattice_row(const float* theta, int size, const float* x, float* tree, float* out) {
  std::size_t nodes = std::size_t{1} << size;
  const float* level = theta;
  for (int d = 0; d < size; ++d) {
    nodes /= 2;
    const V16 xd = load(x + 16 * d);
    for (std::size_t k = 0; k < nodes; ++k) {
      const V16 a = load(level + 32 * k);
      const V16 b = load(level + 32 * k + 16);
      store(fma(xd, b - a, a), tree + 16 * k);
    }
    level = tree;
  }
  store(load(level), out);
}

float fold_in_place(float* theta, int size, const float* x) {
  std::size_t nodes = std::size_t{1} << size;
  for (int d = 0; d < size; ++d) {
    nodes /= 2;
    for (std::size_t k = 0; k < nodes; ++k) {
      theta[k] = std::fma(x[d], theta[2 * k + 1] - theta[2 * k], theta[2 * k]);
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
HWY_EXPORT(calibrate_tile);
HWY_EXPORT(calibrate_row);
HWY_EXPORT(add_terms_of_row);
HWY_EXPORT(lattice_row);
HWY_EXPORT(fold_in_place);

void leave_binade(float range, float low, float* x, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(leave_binade)(range, low, x, n);
}
void calibrate_tile(const UniformTables& units, std::size_t count, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(calibrate_tile)(units, count, in, out);
}
void calibrate_row(const UniformTables& units, std::size_t first, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(calibrate_row)(units, first, in, out);
}
float add_terms_of_row(const LinearTerm* terms, std::size_t num_terms, const float* params,
                       const float* in, float sum) {
  return HWY_DYNAMIC_DISPATCH(add_terms_of_row)(terms, num_terms, params, in, sum);
}
void lattice_row(const float* theta, int size, const float* x, float* tree, float* out) {
  HWY_DYNAMIC_DISPATCH(lattice_row)(theta, size, x, tree, out);
}
float fold_in_place(float* theta, int size, const float* x) {
  return HWY_DYNAMIC_DISPATCH(fold_in_place)(theta, size, x);
}

}  // namespace espalier
#endif  // HWY_ONCE
