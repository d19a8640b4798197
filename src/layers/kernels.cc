// SPDX-License-Identifier: Apache-2.0
#include "layers/kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "layers/instruction_sets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "layers/kernels.cc"
// clang-format off: the order matters
#include "hwy/foreach_target.h"
#include "layers/v16.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

void interpolate(const float* table, int last, const float* positions, float* out) {
  for (int r = 0; r < kTile; r += 16)
    store(read_table(MemoryTable(table, last), place(load(positions + r), last)), out + r);
}

HWY_INLINE Place uniform_place(V16 x, const UniformKeypoints& keypoints) {
  return uniform_place(x, set(keypoints.lo), set(keypoints.inverse_step), keypoints.last);
}

template <class Table>
HWY_INLINE void calibrate_by(const Table& table, const UniformKeypoints& keypoints, const float* in,
                             float* out) {
  for (int r = 0; r < kTile; r += 16) {
    store(read_table(table, uniform_place(load(in + r), keypoints)), out + r);
  }
}

void calibrate(const UniformUnits& units, const float* in, float* out) {
  const float* table = units.tables;
  for (std::size_t u = 0; u < units.count; ++u, table += units.last + 1) {
    const UniformKeypoints keypoints = uniform_keypoints(units.last, units.ranges + 2 * u);
    if (units.last <= kRegisterSegments) {
      calibrate_by(RegisterTable(table, units.last), keypoints, in + u * kTile, out + u * kTile);
    } else {
      calibrate_by(MemoryTable(table, units.last), keypoints, in + u * kTile, out + u * kTile);
    }
  }
}

// What a tile adds to the gradient of a table: of each row the segment, and the pair g, g t.
struct Scattered {
  std::int32_t segment[kTile];
  HWY_ALIGN float pairs[2 * kTile];

  HWY_INLINE void put(int row, const Place& at, V16 g) {
    store(at.k, segment + row);
    store_pairs(g, g * at.t, pairs + 2 * row);
  }
};

typedef float Pair __attribute__((vector_size(8)));

// Adds the rows up by segment. Two banks in turn, because rows in a row often share a segment and
// would wait for each other.
HWY_INLINE void add_up(const Scattered& rows, int last, float* grad_table) {
  constexpr int kMaxBank = 64;
  if (last > kMaxBank) {
    for (int r = 0; r < kTile; ++r) {
      grad_table[rows.segment[r]] += rows.pairs[2 * r] - rows.pairs[2 * r + 1];
      grad_table[rows.segment[r] + 1] += rows.pairs[2 * r + 1];
    }
    return;
  }
  Pair banks[2][kMaxBank];
  for (int k = 0; k < last; ++k) banks[0][k] = banks[1][k] = Pair{0, 0};
  for (int r = 0; r < kTile; r += 2) {
    Pair even, odd;
    std::memcpy(&even, rows.pairs + 2 * r, sizeof even);
    std::memcpy(&odd, rows.pairs + 2 * r + 2, sizeof odd);
    banks[0][rows.segment[r]] += even;
    banks[1][rows.segment[r + 1]] += odd;
  }
  float from_left = 0;
  for (int k = 0; k < last; ++k) {
    const Pair sum = banks[0][k] + banks[1][k];
    grad_table[k] += (sum[0] - sum[1]) + from_left;
    from_left = sum[1];
  }
  grad_table[last] += from_left;
}

void interpolate_backward(int last, const float* positions, const float* grad_out,
                          float* grad_table) {
  Scattered rows;
  for (int r = 0; r < kTile; r += 16) {
    const V16 position = load(positions + r);
    const V16 g = keep_inside(load(grad_out + r), position, set(0), position);  // not of missing
    rows.put(r, place(clamp(position, set(0), set(static_cast<float>(last))), last), g);
  }
  add_up(rows, last, grad_table);
}

template <class Table>
HWY_INLINE void calibrate_backward_by(const Table& table, const UniformKeypoints& keypoints,
                                      const float* in, const float* grad_out, float* grad_table,
                                      float* grad_in) {
  Scattered rows;
  const V16 lo = set(keypoints.lo), hi = set(keypoints.hi);
  for (int r = 0; r < kTile; r += 16) {
    const V16 x = load(in + r), g = load(grad_out + r);
    const Place at = uniform_place(x, keypoints);
    rows.put(r, at, g);
    const V16 slope = table.step(at.k) * set(keypoints.inverse_step);
    store(keep_inside(g * slope, x, lo, hi), grad_in + r);
  }
  add_up(rows, keypoints.last, grad_table);
}

void calibrate_backward(const UniformUnits& units, const float* in, const float* grad_out,
                        float* grad_tables, float* grad_in) {
  const float* table = units.tables;
  for (std::size_t u = 0; u < units.count; ++u, table += units.last + 1) {
    const UniformKeypoints keypoints = uniform_keypoints(units.last, units.ranges + 2 * u);
    const std::size_t row = u * kTile;
    float* grad_table = grad_tables + (table - units.tables);
    if (units.last <= kRegisterSegments) {
      calibrate_backward_by(RegisterTable(table, units.last), keypoints, in + row, grad_out + row,
                            grad_table, grad_in + row);
    } else {
      calibrate_backward_by(MemoryTable(table, units.last), keypoints, in + row, grad_out + row,
                            grad_table, grad_in + row);
    }
  }
}

// Rows that a block of outputs takes at a time: as many as leave room in the registers.
#if HWY_TARGET == HWY_AVX3
constexpr int kBlockVectors = 4;
#else
constexpr int kBlockVectors = 1;
#endif

template <int Outputs>
HWY_INLINE void add_terms_to(const LinearTerm* terms, std::size_t num_terms, const float* params,
                             const float* in, float* out) {
  for (int r = 0; r < kTile; r += 16 * kBlockVectors) {
    V16 sums[Outputs][kBlockVectors];
    for (int o = 0; o < Outputs; ++o) {
      for (int i = 0; i < kBlockVectors; ++i) sums[o][i] = load(out + o * kTile + r + 16 * i);
    }
    for (const LinearTerm* term = terms; term != terms + num_terms; ++term) {
      const float* x = in + term->wire * kTile + r;
      for (int o = 0; o < Outputs; ++o) {
        const V16 w = set(params[term->weight + o]);
        for (int i = 0; i < kBlockVectors; ++i) sums[o][i] = fma(w, load(x + 16 * i), sums[o][i]);
      }
    }
    for (int o = 0; o < Outputs; ++o) {
      for (int i = 0; i < kBlockVectors; ++i) store(sums[o][i], out + o * kTile + r + 16 * i);
    }
  }
}

void add_terms(const LinearTerm* terms, std::size_t num_terms, const float* params, int first,
               int last, const float* in, float* out) {
  int o = first;
  for (; o + 4 <= last; o += 4) add_terms_to<4>(terms, num_terms, params + o, in, out + o * kTile);
  for (; o < last; ++o) add_terms_to<1>(terms, num_terms, params + o, in, out + o * kTile);
}

void weighted_sum(const float* weights, const float* wires, std::size_t n, float* out) {
  V16 sum0 = set(0), sum1 = set(0), sum2 = set(0), sum3 = set(0);
  for (std::size_t i = 0; i < n; ++i, wires += kTile) {
    const V16 w = set(weights[i]);
    sum0 = fma(w, load(wires), sum0);
    sum1 = fma(w, load(wires + 16), sum1);
    sum2 = fma(w, load(wires + 32), sum2);
    sum3 = fma(w, load(wires + 48), sum3);
  }
  store(sum0, out);
  store(sum1, out + 16);
  store(sum2, out + 32);
  store(sum3, out + 48);
}

// Adds to as many vectors of outputs at a time as can be: one sum alone would wait for itself. The
// last vector may have fewer lanes.
template <int Vectors, class Lanes>
HWY_INLINE void add_outer_to(const float* x, const float* rows, std::size_t stride, Lanes lanes,
                             float* out) {
  constexpr int kLast = Vectors - 1;
  V16 sums[Vectors];
  for (int v = 0; v < Vectors; ++v) sums[v] = set(0);
  for (int r = 0; r < kTile; ++r, rows += stride) {
    const V16 xr = set(x[r]);
    for (int v = 0; v < kLast; ++v) sums[v] = fma(xr, load(rows + 16 * v), sums[v]);
    sums[kLast] = fma(xr, load(rows + 16 * kLast, lanes), sums[kLast]);
  }
  for (int v = 0; v < kLast; ++v) store(load(out + 16 * v) + sums[v], out + 16 * v);
  store(load(out + 16 * kLast, lanes) + sums[kLast], out + 16 * kLast, lanes);
}

constexpr int kOuterVectors = 8;

// n: at most those of Vectors vectors
template <int Vectors>
HWY_INLINE void add_outer_rest(const float* x, const float* rows, std::size_t stride, std::size_t n,
                               float* out) {
  constexpr std::size_t kBefore = 16 * (Vectors - 1);
  if (n > kBefore) {
    add_outer_to<Vectors>(x, rows, stride, n - kBefore, out);
  } else if constexpr (Vectors > 1) {
    add_outer_rest<Vectors - 1>(x, rows, stride, n, out);
  }
}

void add_outer(const float* x, const float* rows, std::size_t stride, std::size_t n, float* out) {
  constexpr std::size_t kAtOnce = 16 * kOuterVectors;
  std::size_t first = 0;
  for (; first + kAtOnce <= n; first += kAtOnce)
    add_outer_to<kOuterVectors>(x, rows + first, stride, AllLanes{}, out + first);
  add_outer_rest<kOuterVectors>(x, rows + first, stride, n - first, out + first);
}

void add_row_sums(const float* wires, std::size_t n, float* out) {
  HWY_ALIGN float lanes[16 * 16];
  for (std::size_t first = 0; first < n; first += 16) {
    const std::size_t count = std::min<std::size_t>(16, n - first);
    for (std::size_t i = 0; i < 16; ++i) {
      const float* wire = wires + (first + std::min(i, count - 1)) * kTile;
      V16 sum = load(wire);
      for (int r = 16; r < kTile; r += 16) sum = sum + load(wire + r);
      store(sum, lanes + 16 * i);
    }
    HWY_ALIGN float sums[16];
    store(sum_rows(lanes), sums);
    for (std::size_t i = 0; i < count; ++i) out[first + i] += sums[i];
  }
}

template <int Vectors, class Lanes>
HWY_INLINE void sum_of_rows_at(const float* first, const float* const* rows, std::size_t num_rows,
                               std::size_t i, Lanes lanes, float* out) {
  V16 sums[Vectors];
  for (int v = 0; v < Vectors; ++v) sums[v] = load(first + i + 16 * v, lanes);
  for (std::size_t k = 0; k < num_rows; ++k) {
    const float* row = rows[k] + i;
    for (int v = 0; v < Vectors; ++v) sums[v] = sums[v] + load(row + 16 * v, lanes);
  }
  for (int v = 0; v < Vectors; ++v) store(sums[v], out + i + 16 * v, lanes);
}

void sum_of_rows(const float* first, const float* const* rows, std::size_t num_rows,
                 std::size_t begin, std::size_t end, float* out) {
  constexpr int kAtOnce = 4;
  std::size_t i = begin;
  for (; i + 16 * kAtOnce <= end; i += 16 * kAtOnce)
    sum_of_rows_at<kAtOnce>(first, rows, num_rows, i, AllLanes{}, out);
  each_16(end - i, [&](std::size_t more, auto lanes) HWY_ATTR {
    sum_of_rows_at<1>(first, rows, num_rows, i + more, lanes, out);
  });
}

std::uint64_t rows_equal(float value, const float* wire) {
  std::uint64_t rows = 0;
  for (int r = 0; r < kTile; r += 16)
    rows |= static_cast<std::uint64_t>(equal_bits(load(wire + r), set(value))) << r;
  return rows;
}

void answers_of_tile(const TreeQuestion* questions, std::size_t count, const float* in,
                     float* answers) {
  for (std::size_t i = 0; i < count; ++i) {
    const float* const x = in + static_cast<std::size_t>(questions[i].wire) * kTile;
    std::uint64_t rows = 0;
    for (int r = 0; r < kTile; r += 16)
      rows |= static_cast<std::uint64_t>(greater_bits(load(x + r), set(questions[i].above))) << r;
    std::memcpy(answers + 2 * i, &rows, sizeof rows);
  }
}

void add(const float* x, float* out, std::size_t n) {
  each_16(n, [&](std::size_t i, auto lanes)
                 HWY_ATTR { store(load(out + i, lanes) + load(x + i, lanes), out + i, lanes); });
}

void add_scaled(float weight, const float* x, float* out, std::size_t n) {
  const V16 w = set(weight);
  each_16(n, [&](std::size_t i, auto lanes) HWY_ATTR {
    store(fma(w, load(x + i, lanes), load(out + i, lanes)), out + i, lanes);
  });
}

void clip_to_unit(const float* in, std::size_t n, float* out) {
  for (std::size_t i = 0; i < n; i += 16) store(clamp(load(in + i), set(0), set(1)), out + i);
}

void keep_where_unit(const float* in, std::size_t n, float* grad) {
  for (std::size_t i = 0; i < n; i += 16)
    store(keep_inside(load(grad + i), load(in + i), set(0), set(1)), grad + i);
}

// Blocks of 16 x 16, the last ones moved back over their neighbours; small matrices cell by cell.
void transpose_matrix(const float* in, std::ptrdiff_t in_stride, int rows, int columns, float* out,
                      std::ptrdiff_t out_stride) {
  if (rows < 16 || columns < 16) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) out[j * out_stride + i] = in[i * in_stride + j];
    }
    return;
  }
  for (int top = 0; top < rows; top += 16) {
    const int i = std::min(top, rows - 16);
    for (int left = 0; left < columns; left += 16) {
      const int j = std::min(left, columns - 16);
      transpose(in + i * in_stride + j, in_stride, out + j * out_stride + i, out_stride);
    }
  }
}

// Decay shrinks the parameter itself, apart from the gradient.
}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier {

HWY_EXPORT(interpolate);
HWY_EXPORT(interpolate_backward);
HWY_EXPORT(calibrate);
HWY_EXPORT(calibrate_backward);
HWY_EXPORT(add_terms);
HWY_EXPORT(weighted_sum);
HWY_EXPORT(add_outer);
HWY_EXPORT(add_row_sums);
HWY_EXPORT(sum_of_rows);
HWY_EXPORT(rows_equal);
HWY_EXPORT(answers_of_tile);
HWY_EXPORT(add);
HWY_EXPORT(add_scaled);
HWY_EXPORT(clip_to_unit);
HWY_EXPORT(keep_where_unit);
HWY_EXPORT(transpose_matrix);

void interpolate(const float* table, int last, const float* positions, float* out) {
  HWY_DYNAMIC_DISPATCH(interpolate)(table, last, positions, out);
}
void interpolate_backward(int last, const float* positions, const float* grad_out,
                          float* grad_table) {
  HWY_DYNAMIC_DISPATCH(interpolate_backward)(last, positions, grad_out, grad_table);
}
void calibrate(const UniformUnits& units, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(calibrate)(units, in, out);
}
void calibrate_backward(const UniformUnits& units, const float* in, const float* grad_out,
                        float* grad_tables, float* grad_in) {
  HWY_DYNAMIC_DISPATCH(calibrate_backward)(units, in, grad_out, grad_tables, grad_in);
}
void add_terms(const LinearTerm* terms, std::size_t num_terms, const float* params, int first,
               int last, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(add_terms)(terms, num_terms, params, first, last, in, out);
}
void weighted_sum(const float* weights, const float* wires, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(weighted_sum)(weights, wires, n, out);
}
void add_outer(const float* x, const float* rows, std::size_t stride, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(add_outer)(x, rows, stride, n, out);
}
void add_row_sums(const float* wires, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(add_row_sums)(wires, n, out);
}
void sum_of_rows(const float* first, const float* const* rows, std::size_t num_rows,
                 std::size_t begin, std::size_t end, float* out) {
  HWY_DYNAMIC_DISPATCH(sum_of_rows)(first, rows, num_rows, begin, end, out);
}
std::uint64_t rows_equal(float value, const float* wire) {
  return HWY_DYNAMIC_DISPATCH(rows_equal)(value, wire);
}
void answers_of_tile(const TreeQuestion* questions, std::size_t count, const float* in,
                     float* answers) {
  HWY_DYNAMIC_DISPATCH(answers_of_tile)(questions, count, in, answers);
}
void add(const float* x, float* out, std::size_t n) { HWY_DYNAMIC_DISPATCH(add)(x, out, n); }
void add_scaled(float weight, const float* x, float* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(add_scaled)(weight, x, out, n);
}
void clip_to_unit(const float* in, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(clip_to_unit)(in, n, out);
}
void keep_where_unit(const float* in, std::size_t n, float* grad) {
  HWY_DYNAMIC_DISPATCH(keep_where_unit)(in, n, grad);
}
void transpose_matrix(const float* in, std::ptrdiff_t in_stride, int rows, int columns, float* out,
                      std::ptrdiff_t out_stride) {
  HWY_DYNAMIC_DISPATCH(transpose_matrix)(in, in_stride, rows, columns, out, out_stride);
}

}  // namespace espalier
#endif  // HWY_ONCE
