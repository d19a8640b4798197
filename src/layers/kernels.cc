// SPDX-License-Identifier: Apache-2.0
#include "layers/kernels.h"

#include <algorithm>
#include <cmath>

// The SSE targets have no fused multiply-add, so they would give other bits.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "layers/kernels.cc"
// clang-format off: the order matters
#include "hwy/foreach_target.h"
#include "layers/v16.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

void uniform_positions(const float* x, float lo, float inverse_step, float last, float* positions) {
  for (int r = 0; r < kTile; r += 16) {
    store(clamp((load(x + r) - set(lo)) * set(inverse_step), set(0), set(last)), positions + r);
  }
}

void interpolate(const float* table, int last, const float* positions, float* out) {
  const V16 last_segment = set(static_cast<float>(last - 1));
  for (int r = 0; r < kTile; r += 16) {
    const V16 u = load(positions + r);
    const V16 k = clamp(floor_positive(u), set(0), last_segment);
    const V16 a = lookup(table, k, 0);
    const V16 b = lookup(table, k, 1);
    store(fma(u - k, b - a, a), out + r);
  }
}

void interpolate_backward(const float* table, int last, const float* positions,
                          const float* grad_out, float* grad_table, float* grad_positions) {
  for (int r = 0; r < kTile; ++r) {
    const int k = std::min(static_cast<int>(positions[r]), last - 1);
    const float t = positions[r] - static_cast<float>(k);
    const float right = grad_out[r] * t;
    grad_table[k] += grad_out[r] - right;
    grad_table[k + 1] += right;
    grad_positions[r] = grad_out[r] * (table[k + 1] - table[k]);
  }
}

void add_terms(const LinearTerm* terms, std::size_t num_terms, const float* params,
               std::ptrdiff_t output, const float* in, float* out) {
  V16 sum0 = load(out), sum1 = load(out + 16), sum2 = load(out + 32), sum3 = load(out + 48);
  for (const LinearTerm* term = terms; term != terms + num_terms; ++term) {
    const V16 w = set(params[term->weight + output]);
    const float* x = in + term->wire * kTile;
    sum0 = fma(w, load(x), sum0);
    sum1 = fma(w, load(x + 16), sum1);
    sum2 = fma(w, load(x + 32), sum2);
    sum3 = fma(w, load(x + 48), sum3);
  }
  store(sum0, out);
  store(sum1, out + 16);
  store(sum2, out + 32);
  store(sum3, out + 48);
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

void add_outer(const float* x, const float* rows, std::size_t stride, std::size_t n, float* out) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    V16 sum = set(0);
    for (std::size_t r = 0; r < kTile; ++r) sum = fma(set(x[r]), load(rows + r * stride + i), sum);
    store(load(out + i) + sum, out + i);
  }
  for (; i < n; ++i) {
    float sum = 0;
    for (std::size_t r = 0; r < kTile; ++r) sum = std::fma(x[r], rows[r * stride + i], sum);
    out[i] += sum;
  }
}

void add(const float* x, float* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) store(load(out + i) + load(x + i), out + i);
  for (; i < n; ++i) out[i] += x[i];
}

void add_scaled(float weight, const float* x, float* out, std::size_t n) {
  const V16 w = set(weight);
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) store(fma(w, load(x + i), load(out + i)), out + i);
  for (; i < n; ++i) out[i] = std::fma(weight, x[i], out[i]);
}

void tile_to_rows(const float* wires, int n, float* rows) {
  for (int begin = 0; begin < n; begin += 16) {
    const int end = std::min(begin + 16, n);
    for (int r = 0; r < kTile; ++r) {
      for (int i = begin; i < end; ++i) rows[r * n + i] = wires[i * kTile + r];
    }
  }
}

void rows_to_tile(const float* rows, int n, float* wires) {
  for (int begin = 0; begin < n; begin += 16) {
    const int end = std::min(begin + 16, n);
    for (int i = begin; i < end; ++i) {
      for (int r = 0; r < kTile; ++r) wires[i * kTile + r] = rows[r * n + i];
    }
  }
}

// Folds sixteen rows through a lattice, input by input: halves the table each time. Level d of the
// tree has 2^(size-1-d) nodes of 16 floats; with keep_levels they lie one behind the other, else
// each level overwrites the one before.
HWY_INLINE V16 fold(const float* theta, int size, const float* x, float* tree, bool keep_levels) {
  std::size_t nodes = std::size_t{1} << (size - 1);
  const V16 x0 = load(x);
  for (std::size_t k = 0; k < nodes; ++k) {
    store(fma(x0, set(theta[2 * k + 1] - theta[2 * k]), set(theta[2 * k])), tree + 16 * k);
  }
  float* level = tree;
  for (int d = 1; d < size; ++d) {
    float* next = keep_levels ? level + 16 * nodes : level;
    nodes /= 2;
    const V16 xd = load(x + d * kTile);
    for (std::size_t k = 0; k < nodes; ++k) {
      const V16 a = load(level + 32 * k);
      const V16 b = load(level + 32 * k + 16);
      store(fma(xd, b - a, a), next + 16 * k);
    }
    level = next;
  }
  return load(level);
}

void lattice_forward(const float* theta, int size, const float* x, float* out, float* tree) {
  for (int r = 0; r < kTile; r += 16) store(fold(theta, size, x + r, tree, false), out + r);
}

// Walks the kept levels back from the root; a node's gradient replaces its value once both its
// children have been read. leaf_sums: [2^size][16], added to.
HWY_INLINE void unfold(const float* theta, int size, const float* x, V16 grad, float* grad_x,
                       float* tree, float* leaf_sums) {
  const std::size_t half = std::size_t{1} << (size - 1);
  float* level = tree + 16 * (2 * half - 2);  // the root, the last of 2^size - 1 nodes
  store(grad, level);
  std::size_t nodes = 1;
  for (int d = size - 1; d > 0; --d) {
    float* children = level - 32 * nodes;
    const V16 xd = load(x + d * kTile);
    V16 slope = set(0);
    for (std::size_t k = 0; k < nodes; ++k) {
      const V16 g = load(level + 16 * k);
      const V16 right = g * xd;
      slope = fma(g, load(children + 32 * k + 16) - load(children + 32 * k), slope);
      store(g - right, children + 32 * k);
      store(right, children + 32 * k + 16);
    }
    store(slope, grad_x + d * kTile);
    level = children;
    nodes *= 2;
  }
  const V16 x0 = load(x);
  V16 slope = set(0);
  for (std::size_t k = 0; k < half; ++k) {
    const V16 g = load(level + 16 * k);
    const V16 right = g * x0;
    slope = fma(g, set(theta[2 * k + 1] - theta[2 * k]), slope);
    store(load(leaf_sums + 32 * k) + (g - right), leaf_sums + 32 * k);
    store(load(leaf_sums + 32 * k + 16) + right, leaf_sums + 32 * k + 16);
  }
  store(slope, grad_x);
}

void lattice_backward(const float* theta, int size, const float* x, const float* grad_out,
                      float* grad_x, float* grad_theta, float* tree) {
  const std::size_t vertices = std::size_t{1} << size;
  float* leaf_sums = tree + 16 * vertices;
  std::fill_n(leaf_sums, 16 * vertices, 0.0f);
  for (int r = 0; r < kTile; r += 16) {
    fold(theta, size, x + r, tree, true);
    unfold(theta, size, x + r, load(grad_out + r), grad_x + r, tree, leaf_sums);
  }
  for (std::size_t v = 0; v < vertices; ++v) grad_theta[v] += sum(load(leaf_sums + 16 * v));
}

// Sixteen parameters. Decay shrinks the parameter itself, apart from the gradient.
HWY_INLINE void adam_step_16(const AdamStep& step, float* const* shard_grads, int num_shards,
                             std::size_t i, const float* penalty, float* params, float* mean,
                             float* variance) {
  V16 g = load(shard_grads[0] + i);
  store(set(0), shard_grads[0] + i);
  for (int s = 1; s < num_shards; ++s) {
    g = g + load(shard_grads[s] + i);
    store(set(0), shard_grads[s] + i);
  }
  g = g * set(step.gradient_scale);
  if (penalty != nullptr) g = g + load(penalty + i);
  const V16 m = fma(set(1 - kAdamBeta1), g - load(mean + i), load(mean + i));
  const V16 v = fma(set(1 - kAdamBeta2), g * g - load(variance + i), load(variance + i));
  store(m, mean + i);
  store(v, variance + i);
  const V16 direction =
      (m * set(step.correction1)) / (sqrt(v * set(step.correction2)) + set(step.epsilon));
  const V16 p = load(params + i);
  const V16 decayed = fma(set(-step.decay), p, p);
  store(fma(set(-step.learning_rate), direction, decayed), params + i);
}

void adam_step(const AdamStep& step, float* const* shard_grads, int num_shards,
               const float* penalty, float* params, float* mean, float* variance, std::size_t n) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    adam_step_16(step, shard_grads, num_shards, i, penalty, params, mean, variance);
  }
  if (i == n) return;
  // The rest goes through padded copies, so that every parameter sees the same operations.
  const std::size_t rest = n - i;
  float grad[16] = {}, pen[16] = {}, p[16] = {}, m[16] = {}, v[16] = {};
  for (std::size_t k = 0; k < rest; ++k) {
    for (int s = 0; s < num_shards; ++s) {
      grad[k] = s == 0 ? shard_grads[0][i + k] : grad[k] + shard_grads[s][i + k];
      shard_grads[s][i + k] = 0;
    }
    if (penalty != nullptr) pen[k] = penalty[i + k];
    p[k] = params[i + k];
    m[k] = mean[i + k];
    v[k] = variance[i + k];
  }
  float* grads[1] = {grad};
  adam_step_16(step, grads, 1, 0, penalty != nullptr ? pen : nullptr, p, m, v);
  std::copy_n(p, rest, params + i);
  std::copy_n(m, rest, mean + i);
  std::copy_n(v, rest, variance + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier {

HWY_EXPORT(uniform_positions);
HWY_EXPORT(interpolate);
HWY_EXPORT(interpolate_backward);
HWY_EXPORT(add_terms);
HWY_EXPORT(weighted_sum);
HWY_EXPORT(add_outer);
HWY_EXPORT(add);
HWY_EXPORT(add_scaled);
HWY_EXPORT(tile_to_rows);
HWY_EXPORT(rows_to_tile);
HWY_EXPORT(lattice_forward);
HWY_EXPORT(lattice_backward);
HWY_EXPORT(adam_step);

void uniform_positions(const float* x, float lo, float inverse_step, float last, float* positions) {
  HWY_DYNAMIC_DISPATCH(uniform_positions)(x, lo, inverse_step, last, positions);
}
void interpolate(const float* table, int last, const float* positions, float* out) {
  HWY_DYNAMIC_DISPATCH(interpolate)(table, last, positions, out);
}
void interpolate_backward(const float* table, int last, const float* positions,
                          const float* grad_out, float* grad_table, float* grad_positions) {
  HWY_DYNAMIC_DISPATCH(interpolate_backward)
  (table, last, positions, grad_out, grad_table, grad_positions);
}
void add_terms(const LinearTerm* terms, std::size_t num_terms, const float* params,
               std::ptrdiff_t output, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(add_terms)(terms, num_terms, params, output, in, out);
}
void weighted_sum(const float* weights, const float* wires, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(weighted_sum)(weights, wires, n, out);
}
void add_outer(const float* x, const float* rows, std::size_t stride, std::size_t n, float* out) {
  HWY_DYNAMIC_DISPATCH(add_outer)(x, rows, stride, n, out);
}
void add(const float* x, float* out, std::size_t n) { HWY_DYNAMIC_DISPATCH(add)(x, out, n); }
void add_scaled(float weight, const float* x, float* out, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(add_scaled)(weight, x, out, n);
}
void tile_to_rows(const float* wires, int n, float* rows) {
  HWY_DYNAMIC_DISPATCH(tile_to_rows)(wires, n, rows);
}
void rows_to_tile(const float* rows, int n, float* wires) {
  HWY_DYNAMIC_DISPATCH(rows_to_tile)(rows, n, wires);
}
std::size_t lattice_scratch(int size) { return std::size_t{32} << size; }
void lattice_forward(const float* theta, int size, const float* x, float* out, float* tree) {
  HWY_DYNAMIC_DISPATCH(lattice_forward)(theta, size, x, out, tree);
}
void lattice_backward(const float* theta, int size, const float* x, const float* grad_out,
                      float* grad_x, float* grad_theta, float* tree) {
  HWY_DYNAMIC_DISPATCH(lattice_backward)(theta, size, x, grad_out, grad_x, grad_theta, tree);
}
void adam_step(const AdamStep& step, float* const* shard_grads, int num_shards,
               const float* penalty, float* params, float* mean, float* variance, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(adam_step)
  (step, shard_grads, num_shards, penalty, params, mean, variance, n);
}

}  // namespace espalier
#endif  // HWY_ONCE
