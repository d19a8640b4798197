// SPDX-License-Identifier: Apache-2.0
#include "layers/lattice_gradients.h"

#include <algorithm>

#include "layers/instruction_sets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "layers/lattice_gradients.cc"
// clang-format off: the order matters
#include "hwy/foreach_target.h"
#include "layers/v16.h"
// clang-format on

#ifndef ESPALIER_LATTICE_GRADIENTS
#define ESPALIER_LATTICE_GRADIENTS
namespace espalier {

// A lattice is cut into blocks over its first inputs, small enough that the nodes of a block stay
// in the nearest cache.
constexpr int kBlockInputs = 5;

// From this size on the gradients are matrix products, with blocks over the first kInner inputs:
// one vector of leaves. Below it these are too small to pay.
constexpr int kLeastProducts = 7;
constexpr int kInner = 4;
constexpr std::size_t kInnerLeaves = 1 << kInner;

// Inputs of a block.
constexpr int block_inputs(int size) {
  return size >= kLeastProducts ? kInner : std::min(size, kBlockInputs);
}

// The sixteen leaves over four inputs that lie on the left of one of them, or on its right.
struct Sides {
  HWY_ALIGN float left[kInner][16] = {}, right[kInner][16] = {};

  constexpr Sides() {
    for (int d = 0; d < kInner; ++d) {
      for (int leaf = 0; leaf < 16; ++leaf) ((leaf >> d & 1) == 0 ? left : right)[d][leaf] = 1;
    }
  }
};
constexpr Sides kSides;

}  // namespace espalier
#endif

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

// Rows that go through a block together: as many as leave room in the registers.
#if HWY_TARGET == HWY_AVX3
constexpr int kRowVectors = 2;
#else
constexpr int kRowVectors = 1;
#endif
struct RowValues {  // a value for each of them
  V16 v[kRowVectors];
};
#define ESPALIER_EACH for (int i = 0; i < kRowVectors; ++i)

// In each input, subtracts from the leaves on the given side those on the other.
template <int Inputs, int Input = 0>
HWY_INLINE V16 subtract_across(V16 leaves, const float (&side)[kInner][16]) {
  if constexpr (Input < Inputs && Input < kInner) {
    const V16 moved = exchange<1 << Input>(leaves) * load(side[Input]);
    return subtract_across<Inputs, Input + 1>(leaves - moved, side);
  } else {
    return leaves;
  }
}

// A block is the polynomial sum_A c_A prod_{d in A} x_d: a node is then fma(x, right, left),
// without a subtraction, and a gradient goes unchanged to the left. In each input c is the right
// leaf minus the left one.
template <int Inputs>
HWY_INLINE V16 coefficients_of_leaves(V16 leaves) {
  return subtract_across<Inputs>(leaves, kSides.right);
}

// The transpose, from gradients to gradients.
template <int Inputs>
HWY_INLINE V16 leaves_of_coefficients(V16 gradients) {
  return subtract_across<Inputs>(gradients, kSides.left);
}

template <int Inputs>
constexpr std::size_t kLeaves = std::size_t{1} << Inputs;

template <int Inputs>
HWY_INLINE void block_coefficients(const float* theta, float* coefficients) {
  static_assert(Inputs <= 5);
  const std::size_t lanes = std::min<std::size_t>(16, kLeaves<Inputs>);
  const V16 first = coefficients_of_leaves<Inputs>(load(theta, lanes));
  store(first, coefficients, lanes);
  if constexpr (Inputs == 5)
    store(coefficients_of_leaves<Inputs>(load(theta + 16)) - first, coefficients + 16);
}

template <int Inputs>
HWY_INLINE void coefficients_of(const float* theta, int size, float* coefficients) {
  for (std::size_t v = 0; v < std::size_t{1} << size; v += kLeaves<Inputs>)
    block_coefficients<Inputs>(theta + v, coefficients + v);
}

void lattice_coefficients(const float* theta, int size, float* coefficients) {
  switch (block_inputs(size)) {
    case 1:
      return coefficients_of<1>(theta, size, coefficients);
    case 2:
      return coefficients_of<2>(theta, size, coefficients);
    case 3:
      return coefficients_of<3>(theta, size, coefficients);
    case 4:
      return coefficients_of<4>(theta, size, coefficients);
    default:
      return coefficients_of<5>(theta, size, coefficients);
  }
}

// What each node of a block multiplies its input with, but for the pairs of leaves: there it is a
// coefficient.
template <int Inputs>
struct Steps {
  RowValues step;
  Steps<Inputs - 1> left, right;
};
template <>
struct Steps<1> {};

template <int Inputs>
ESPALIER_UNROLLED RowValues fold_and_keep(const float* coefficients, const RowValues* x,
                                          Steps<Inputs>& steps) {
  RowValues node;
  if constexpr (Inputs == 1) {
    ESPALIER_EACH node.v[i] = fma(x[0].v[i], set(coefficients[1]), set(coefficients[0]));
  } else {
    const RowValues left = fold_and_keep<Inputs - 1>(coefficients, x, steps.left);
    steps.step = fold_and_keep<Inputs - 1>(coefficients + (1 << (Inputs - 1)), x, steps.right);
    ESPALIER_EACH node.v[i] = fma(x[Inputs - 1].v[i], steps.step.v[i], left.v[i]);
  }
  return node;
}

// Carries the gradient g of a node down to its coefficients. Adds the gradient of each input. sums:
// [2^Inputs][16], added to unless these are the first rows.
template <int Inputs, bool AreFirst>
ESPALIER_UNROLLED void unfold(const float* coefficients, const RowValues* x,
                              const Steps<Inputs>& steps, const RowValues& g, RowValues* grad_x,
                              float* sums) {
  if constexpr (Inputs == 1) {
    V16 own, times_x;
    if constexpr (AreFirst) {
      own = g.v[0];
      times_x = g.v[0] * x[0].v[0];
    } else {
      own = load(sums) + g.v[0];
      times_x = fma(g.v[0], x[0].v[0], load(sums + 16));
    }
    for (int i = 1; i < kRowVectors; ++i) {
      own = own + g.v[i];
      times_x = fma(g.v[i], x[0].v[i], times_x);
    }
    ESPALIER_EACH grad_x[0].v[i] = fma(g.v[i], set(coefficients[1]), grad_x[0].v[i]);
    store(own, sums);
    store(times_x, sums + 16);
  } else {
    constexpr int kHalf = 1 << (Inputs - 1);
    RowValues to_right;
    ESPALIER_EACH {
      grad_x[Inputs - 1].v[i] = fma(g.v[i], steps.step.v[i], grad_x[Inputs - 1].v[i]);
      to_right.v[i] = g.v[i] * x[Inputs - 1].v[i];
    }
    unfold<Inputs - 1, AreFirst>(coefficients, x, steps.left, g, grad_x, sums);
    unfold<Inputs - 1, AreFirst>(coefficients + kHalf, x, steps.right, to_right, grad_x,
                                 sums + 16 * kHalf);
  }
}

// Some rows of a block, in which its root has the gradient grad; root: its values.
template <int Inputs, bool AreFirst>
HWY_INLINE void rows_backward(const float* coefficients, const float* x, const float* grad,
                              float* root, bool is_first_block, float* grad_x, float* sums) {
  RowValues own_x[Inputs], own_grad_x[Inputs], g;
  for (int d = 0; d < Inputs; ++d) {
    ESPALIER_EACH {
      own_x[d].v[i] = load(x + d * kTile + 16 * i);
      own_grad_x[d].v[i] = is_first_block ? set(0) : load(grad_x + d * kTile + 16 * i);
    }
  }
  ESPALIER_EACH g.v[i] = load(grad + 16 * i);
  Steps<Inputs> steps;
  const RowValues node = fold_and_keep<Inputs>(coefficients, own_x, steps);
  unfold<Inputs, AreFirst>(coefficients, own_x, steps, g, own_grad_x, sums);
  ESPALIER_EACH store(node.v[i], root + 16 * i);
  for (int d = 0; d < Inputs; ++d) {
    ESPALIER_EACH store(own_grad_x[d].v[i], grad_x + d * kTile + 16 * i);
  }
}

template <int Inputs>
HWY_INLINE void block_backward(const float* coefficients, const float* x, const float* grad,
                               float* root, bool is_first_block, float* grad_x, float* sums) {
  rows_backward<Inputs, true>(coefficients, x, grad, root, is_first_block, grad_x, sums);
  for (int r = 16 * kRowVectors; r < kTile; r += 16 * kRowVectors) {
    rows_backward<Inputs, false>(coefficients, x + r, grad + r, root + r, is_first_block,
                                 grad_x + r, sums);
  }
}

// What the sums of a block mean for its leaves.
template <int Inputs>
HWY_INLINE void add_leaf_gradients(const float* sums, float* grad_theta) {
  const std::size_t lanes = std::min<std::size_t>(16, kLeaves<Inputs>);
  V16 first = leaves_of_coefficients<Inputs>(sum_rows(sums));
  if constexpr (Inputs == 5) {
    const V16 second = leaves_of_coefficients<Inputs>(sum_rows(sums + 16 * 16));
    first = first - second;
    store(load(grad_theta + 16) + second, grad_theta + 16);
  }
  store(load(grad_theta, lanes) + first, grad_theta, lanes);
}

// The gradient of each block: that of the output times the weight of the block. weights:
// [blocks][kTile]
HWY_INLINE void weigh_blocks(const float* x, int inputs, const float* grad, float* weights) {
  for (int i = 0; i < kTile; i += 16) store(load(grad + i), weights + i);
  for (int d = 0; d < inputs; ++d) {
    const std::size_t width = std::size_t{1} << d;
    for (std::size_t k = 0; k < width; ++k) {
      for (int i = 0; i < kTile; i += 16) {
        float* left = weights + k * kTile + i;
        const V16 to_right = load(left) * load(x + d * kTile + i);
        store(to_right, left + width * kTile);
        store(load(left) - to_right, left);
      }
    }
  }
}

// The gradient of the inputs that choose among blocks, whose values are folded in place. weights:
// as above; after the fold of input d only its halves without d are needed, and those are sums.
HWY_INLINE void fold_outer_backward(const float* x, int inputs, float* values, float* weights,
                                    float* grad_x) {
  std::size_t width = std::size_t{1} << inputs;
  for (int d = 0; d < inputs; ++d) {
    width /= 2;
    for (int i = 0; i < kTile; i += 16) {
      const V16 xd = load(x + d * kTile + i);
      V16 slope = set(0);
      for (std::size_t k = 0; k < width; ++k) {
        const float* pair = values + 2 * k * kTile + i;
        const float* parts = weights + 2 * k * kTile + i;
        const V16 left = load(pair), step = load(pair + kTile) - left;
        const V16 g = load(parts) + load(parts + kTile);
        slope = fma(g, step, slope);
        store(g, weights + k * kTile + i);
        store(fma(xd, step, left), values + k * kTile + i);
      }
      store(slope, grad_x + d * kTile + i);
    }
  }
}

// A lattice of blocks over `Inner` inputs and `outer` further ones.
template <int Inner>
HWY_INLINE void backward(const float* coefficients, int outer, const float* x,
                         const float* grad_out, float* grad_x, float* grad_theta, float* scratch) {
  const std::size_t blocks = std::size_t{1} << outer;
  float* weights = scratch;
  float* values = weights + blocks * kTile;
  float* sums = values + blocks * kTile;
  weigh_blocks(x + Inner * kTile, outer, grad_out, weights);
  for (std::size_t block = 0; block < blocks; ++block) {
    block_backward<Inner>(coefficients + (block << Inner), x, weights + block * kTile,
                          values + block * kTile, block == 0, grad_x, sums);
    add_leaf_gradients<Inner>(sums, grad_theta + (block << Inner));
  }
  fold_outer_backward(x + Inner * kTile, outer, values, weights, grad_x + Inner * kTile);
}

// Gradients as matrix products. The output is sum_ij c_ij h_i m_j, where h weighs the blocks, c_i
// are the coefficients of a block and m the products of its inputs. With w = g h, the gradient of
// the output times h,
//   values_i = sum_j c_ij m_j, which give the gradients of the outer inputs,
//   slices_j = sum_i c_ij w_i, which give those of the inner ones,
// and the gradient of leaf j of block i is the sum over rows of w_i times the weight of the leaf.

// Terms of a block at a time, so that m and slices of a part stay in registers: those that inputs 0
// and 1 differ in. A part for each product of the other two inputs.
constexpr int kPartTerms = 4, kParts = 4;
static_assert(kPartTerms * kParts == kInnerLeaves);

// values: [blocks][kTile], added to unless it is the first part. slices: [kPartTerms][kTile].
HWY_INLINE void multiply_part(const float* coefficients, std::size_t blocks, const float* weights,
                              const RowValues* m, bool is_first, float* values, float* slices) {
  RowValues slice[kPartTerms];
  for (RowValues& each : slice) {
    ESPALIER_EACH each.v[i] = set(0);
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    RowValues value, weight;
    ESPALIER_EACH {
      value.v[i] = is_first ? set(0) : load(values + block * kTile + 16 * i);
      weight.v[i] = load(weights + block * kTile + 16 * i);
    }
    for (int j = 0; j < kPartTerms; ++j) {
      const V16 c = set(coefficients[block * kInnerLeaves + static_cast<std::size_t>(j)]);
      ESPALIER_EACH {
        value.v[i] = fma(c, m[j].v[i], value.v[i]);
        slice[j].v[i] = fma(c, weight.v[i], slice[j].v[i]);
      }
    }
    ESPALIER_EACH store(value.v[i], values + block * kTile + 16 * i);
  }
  for (int j = 0; j < kPartTerms; ++j) {
    ESPALIER_EACH store(slice[j].v[i], slices + j * kTile + 16 * i);
  }
}

// slices: [kInnerLeaves][kTile]
HWY_INLINE void multiply(const float* coefficients, std::size_t blocks, const float* x,
                         const float* weights, float* values, float* slices) {
  for (int r = 0; r < kTile; r += 16 * kRowVectors) {
    for (int part = 0; part < kParts; ++part) {
      RowValues m[kPartTerms];
      ESPALIER_EACH {
        const auto input = [&](int d) HWY_ATTR { return load(x + d * kTile + r + 16 * i); };
        m[0].v[i] = part == 0   ? set(1)
                    : part == 1 ? input(2)
                    : part == 2 ? input(3)
                                : input(2) * input(3);
        m[1].v[i] = m[0].v[i] * input(0);
        m[2].v[i] = m[0].v[i] * input(1);
        m[3].v[i] = m[2].v[i] * input(0);
      }
      multiply_part(coefficients + kPartTerms * part, blocks, weights + r, m, part == 0, values + r,
                    slices + kPartTerms * part * kTile + r);
    }
  }
}

// The polynomial with these coefficients at x[0], x[kTile], ...; they are overwritten.
template <int Inputs>
HWY_INLINE V16 polynomial(V16* coefficients, const float* x) {
  for (int d = 0, width = 1 << Inputs; width > 1; ++d) {
    width /= 2;
    for (int k = 0; k < width; ++k)
      coefficients[k] = fma(load(x + d * kTile), coefficients[2 * k + 1], coefficients[2 * k]);
  }
  return coefficients[0];
}

// What the slices mean for the inner inputs: their gradient is that of sum_j slices_j m_j.
template <int Inputs>
HWY_INLINE void inner_gradients(V16* coefficients, const float* x, float* grad_x) {
  constexpr int kHalf = 1 << (Inputs - 1);
  V16 steps[kHalf];
  for (int k = 0; k < kHalf; ++k) {
    steps[k] = coefficients[2 * k + 1];
    coefficients[k] = fma(load(x), steps[k], coefficients[2 * k]);
  }
  store(polynomial<Inputs - 1>(steps, x + kTile), grad_x);
  if constexpr (Inputs > 1) inner_gradients<Inputs - 1>(coefficients, x + kTile, grad_x + kTile);
}

// rows: [kTile][kInnerLeaves], the weights of the leaves of a block.
HWY_INLINE void weigh_inner_leaves(const float* x, float* rows) {
  for (int r = 0; r < kTile; ++r) {
    const auto factor = [&](int d) HWY_ATTR {  // x on the right, 1 - x on the left
      const V16 left = load(kSides.left[d]);
      return fma(set(x[d * kTile + r]), load(kSides.right[d]) - left, left);
    };
    store((factor(0) * factor(1)) * (factor(2) * factor(3)), rows + r * 16);
  }
}

// Adds the gradients of the leaves of some blocks. grad_theta: [Blocks][kInnerLeaves]
template <int Blocks>
HWY_INLINE void add_products(const float* weights, const float* rows, float* grad_theta) {
  V16 sums[Blocks];
  for (int b = 0; b < Blocks; ++b) sums[b] = set(0);
  for (int r = 0; r < kTile; ++r) {
    const V16 row = load(rows + r * 16);
    for (int b = 0; b < Blocks; ++b) sums[b] = fma(set(weights[b * kTile + r]), row, sums[b]);
  }
  for (int b = 0; b < Blocks; ++b) {
    float* own = grad_theta + static_cast<std::size_t>(b) * kInnerLeaves;
    store(load(own) + sums[b], own);
  }
}

HWY_INLINE void backward_by_products(const float* coefficients, int size, const float* x,
                                     const float* grad_out, float* grad_x, float* grad_theta,
                                     float* scratch) {
  const int outer = size - kInner;
  const std::size_t blocks = std::size_t{1} << outer;
  float* weights = scratch;
  float* values = weights + blocks * kTile;
  float* slices = values + blocks * kTile;
  float* rows = slices;  // when those are no longer needed
  weigh_blocks(x + kInner * kTile, outer, grad_out, weights);
  multiply(coefficients, blocks, x, weights, values, slices);
  for (int r = 0; r < kTile; r += 16) {
    V16 own[kInnerLeaves];
    for (std::size_t j = 0; j < kInnerLeaves; ++j) own[j] = load(slices + j * kTile + r);
    inner_gradients<kInner>(own, x + r, grad_x + r);
  }
  weigh_inner_leaves(x, rows);
  constexpr int kBlocks = 4 * kRowVectors;
  for (std::size_t block = 0; block < blocks; block += kBlocks)
    add_products<kBlocks>(weights + block * kTile, rows, grad_theta + block * kInnerLeaves);
  fold_outer_backward(x + kInner * kTile, outer, values, weights, grad_x + kInner * kTile);
}
#undef ESPALIER_EACH

void lattice_backward(const float* coefficients, int size, const float* x, const float* grad_out,
                      float* grad_x, float* grad_theta, float* scratch) {
  switch (size) {
    case 1:
      return backward<1>(coefficients, 0, x, grad_out, grad_x, grad_theta, scratch);
    case 2:
      return backward<2>(coefficients, 0, x, grad_out, grad_x, grad_theta, scratch);
    case 3:
      return backward<3>(coefficients, 0, x, grad_out, grad_x, grad_theta, scratch);
    case 4:
      return backward<4>(coefficients, 0, x, grad_out, grad_x, grad_theta, scratch);
    case 5:
      return backward<5>(coefficients, 0, x, grad_out, grad_x, grad_theta, scratch);
    case 6:
      return backward<5>(coefficients, 1, x, grad_out, grad_x, grad_theta, scratch);
    default:
      static_assert(kLeastProducts == 7);
      return backward_by_products(coefficients, size, x, grad_out, grad_x, grad_theta, scratch);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier {

HWY_EXPORT(lattice_coefficients);
HWY_EXPORT(lattice_backward);

void lattice_coefficients(const float* theta, int size, float* coefficients) {
  HWY_DYNAMIC_DISPATCH(lattice_coefficients)(theta, size, coefficients);
}

std::size_t lattice_scratch(int size) {
  const std::size_t blocks = std::size_t{1} << (size - block_inputs(size));
  return (2 * blocks + kInnerLeaves) * kTile;
}

void lattice_backward(const float* coefficients, int size, const float* x, const float* grad_out,
                      float* grad_x, float* grad_theta, float* scratch) {
  HWY_DYNAMIC_DISPATCH(lattice_backward)
  (coefficients, size, x, grad_out, grad_x, grad_theta, scratch);
}

}  // namespace espalier
#endif  // HWY_ONCE
