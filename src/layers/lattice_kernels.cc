// SPDX-License-Identifier: Apache-2.0
#include "layers/lattice_kernels.h"

#include <algorithm>

// The SSE targets have no fused multiply-add, so they would give other bits.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "layers/lattice_kernels.cc"
// clang-format off: the order matters
#include "hwy/foreach_target.h"
#include "layers/v16.h"
// clang-format on

#ifndef ESPALIER_LATTICE_BLOCK
#define ESPALIER_LATTICE_BLOCK
namespace espalier {

// A lattice is cut into blocks over its first inputs, small enough that the nodes of a block stay
// in registers forwards and in the nearest cache backwards.
constexpr int kBlockInputs = 5;

// From this size on the gradients are matrix products, with blocks over the first kInner inputs:
// one vector of leaves. Below it these are too small to pay.
constexpr int kLeastProducts = 7;
constexpr int kInner = 4;
constexpr std::size_t kInnerLeaves = 1 << kInner;

}  // namespace espalier
#endif

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

// Rows that go through the tree together: as many as leave room in the registers.
#if HWY_TARGET == HWY_AVX3
constexpr int kVectors = 4, kBackwardVectors = 2;
#else
constexpr int kVectors = 1, kBackwardVectors = 1;
#endif
// A whole tree in registers is one long function. Without registers, or under a sanitizer, that
// only takes long to compile.
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || !defined(NDEBUG)
#define ESPALIER_TREE HWY_NOINLINE
#else
#define ESPALIER_TREE HWY_INLINE
#endif

template <int Vectors>
struct NodesOf {  // the same node for each of the rows
  V16 v[Vectors];
};
using Nodes = NodesOf<kVectors>;

HWY_INLINE Nodes fold(const float* x, const Nodes& left, const Nodes& right) {
  Nodes node;
  for (int i = 0; i < kVectors; ++i)
    node.v[i] = fma(load(x + 16 * i), right.v[i] - left.v[i], left.v[i]);
  return node;
}

// The node over the first `Inputs` inputs, depth first.
template <int Inputs>
ESPALIER_TREE Nodes tree(const float* slopes, const float* x) {
  if constexpr (Inputs == 1) {
    const V16 left = set(slopes[0]), slope = set(slopes[1]);
    Nodes node;
    for (int i = 0; i < kVectors; ++i) node.v[i] = fma(load(x + 16 * i), slope, left);
    return node;
  } else {
    const Nodes left = tree<Inputs - 1>(slopes, x);
    const Nodes right = tree<Inputs - 1>(slopes + (1 << (Inputs - 1)), x);
    return fold(x + (Inputs - 1) * kTile, left, right);
  }
}

// Blocks one after the other; a finished pair of subtrees is folded at once, as a counter carries.
HWY_INLINE Nodes tree_of_blocks(const float* slopes, int size, const float* x) {
  Nodes waiting[kMaxLatticeSize + 1];
  for (std::size_t block = 0; block < std::size_t{1} << (size - kBlockInputs); ++block) {
    Nodes node = tree<kBlockInputs>(slopes + (block << kBlockInputs), x);
    int inputs = kBlockInputs;
    for (std::size_t carry = block; (carry & 1) != 0; carry >>= 1, ++inputs)
      node = fold(x + inputs * kTile, waiting[inputs], node);
    waiting[inputs] = node;
  }
  return waiting[size];
}

HWY_INLINE Nodes tree_of(const float* slopes, int size, const float* x) {
  switch (size) {
    case 1:
      return tree<1>(slopes, x);
    case 2:
      return tree<2>(slopes, x);
    case 3:
      return tree<3>(slopes, x);
    case 4:
      return tree<4>(slopes, x);
    case kBlockInputs:
      return tree<kBlockInputs>(slopes, x);
    default:
      return tree_of_blocks(slopes, size, x);
  }
}

void lattice_forward(const float* slopes, int size, const float* x, float* out) {
  for (int r = 0; r < kTile; r += 16 * kVectors) {
    const Nodes root = tree_of(slopes, size, x + r);
    for (int i = 0; i < kVectors; ++i) store(root.v[i], out + r + 16 * i);
  }
}

using Grads = NodesOf<kBackwardVectors>;
#define ESPALIER_EACH for (int i = 0; i < kBackwardVectors; ++i)

// right - left of every node of a block but the pairs of leaves, whose steps are in the slopes.
template <int Inputs>
struct Steps {
  Grads step;
  Steps<Inputs - 1> left, right;
};
template <>
struct Steps<1> {};

template <int Inputs>
ESPALIER_TREE Grads fold_and_keep(const float* slopes, const Grads* x, Steps<Inputs>& steps) {
  Grads node;
  if constexpr (Inputs == 1) {
    ESPALIER_EACH node.v[i] = fma(x[0].v[i], set(slopes[1]), set(slopes[0]));
  } else {
    const Grads left = fold_and_keep<Inputs - 1>(slopes, x, steps.left);
    const Grads right = fold_and_keep<Inputs - 1>(slopes + (1 << (Inputs - 1)), x, steps.right);
    ESPALIER_EACH {
      steps.step.v[i] = right.v[i] - left.v[i];
      node.v[i] = fma(x[Inputs - 1].v[i], steps.step.v[i], left.v[i]);
    }
  }
  return node;
}

// Carries the gradient g of a node down to its leaves. Adds the gradient of each input. sums:
// [2^Inputs][16], added to: for each pair of leaves its gradient and that times input 0.
template <int Inputs>
ESPALIER_TREE void unfold(const float* slopes, const Grads* x, const Steps<Inputs>& steps,
                          const Grads& g, Grads* grad_x, float* sums) {
  if constexpr (Inputs == 1) {
    V16 own = load(sums), times_x = load(sums + 16);
    ESPALIER_EACH {
      grad_x[0].v[i] = fma(g.v[i], set(slopes[1]), grad_x[0].v[i]);
      own = own + g.v[i];
      times_x = fma(g.v[i], x[0].v[i], times_x);
    }
    store(own, sums);
    store(times_x, sums + 16);
  } else {
    constexpr int kHalf = 1 << (Inputs - 1);
    Grads to_left, to_right;
    ESPALIER_EACH {
      grad_x[Inputs - 1].v[i] = fma(g.v[i], steps.step.v[i], grad_x[Inputs - 1].v[i]);
      to_right.v[i] = g.v[i] * x[Inputs - 1].v[i];
      to_left.v[i] = g.v[i] - to_right.v[i];
    }
    unfold<Inputs - 1>(slopes, x, steps.left, to_left, grad_x, sums);
    unfold<Inputs - 1>(slopes + kHalf, x, steps.right, to_right, grad_x, sums + 16 * kHalf);
  }
}

// A block for a tile, in which its root has the gradient grad; root: its values.
template <int Inputs>
HWY_INLINE void block_backward(const float* slopes, const float* x, const float* grad, float* root,
                               float* grad_x, float* sums) {
  for (int v = 0; v < std::max(16, 1 << Inputs); ++v) store(set(0), sums + 16 * v);
  for (int r = 0; r < kTile; r += 16 * kBackwardVectors) {
    Grads own_x[Inputs], own_grad_x[Inputs], g;
    for (int d = 0; d < Inputs; ++d) {
      ESPALIER_EACH {
        own_x[d].v[i] = load(x + d * kTile + r + 16 * i);
        own_grad_x[d].v[i] = load(grad_x + d * kTile + r + 16 * i);
      }
    }
    ESPALIER_EACH g.v[i] = load(grad + r + 16 * i);
    Steps<Inputs> steps;
    const Grads node = fold_and_keep<Inputs>(slopes, own_x, steps);
    unfold<Inputs>(slopes, own_x, steps, g, own_grad_x, sums);
    ESPALIER_EACH store(node.v[i], root + r + 16 * i);
    for (int d = 0; d < Inputs; ++d) {
      ESPALIER_EACH store(own_grad_x[d].v[i], grad_x + d * kTile + r + 16 * i);
    }
  }
}

// What the sums of a block mean for its leaves.
template <int Inputs>
HWY_INLINE void add_leaf_gradients(const float* sums, float* grad_theta) {
  constexpr int kLeaves = 1 << Inputs;
  for (int first = 0; first < kLeaves; first += 16) {
    float lanes[16];
    store(sum_rows(sums + 16 * first), lanes);
    for (int v = 0; v < std::min(16, kLeaves); v += 2) {
      grad_theta[first + v] += lanes[v] - lanes[v + 1];
      grad_theta[first + v + 1] += lanes[v + 1];
    }
  }
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
HWY_INLINE void backward(const float* slopes, int outer, const float* x, const float* grad_out,
                         float* grad_x, float* grad_theta, float* scratch) {
  const std::size_t blocks = std::size_t{1} << outer;
  float* weights = scratch;
  float* values = weights + blocks * kTile;
  float* sums = values + blocks * kTile;
  for (int i = 0; i < Inner * kTile; i += 16) store(set(0), grad_x + i);
  weigh_blocks(x + Inner * kTile, outer, grad_out, weights);
  for (std::size_t block = 0; block < blocks; ++block) {
    const float* own = slopes + (block << Inner);
    block_backward<Inner>(own, x, weights + block * kTile, values + block * kTile, grad_x, sums);
    add_leaf_gradients<Inner>(sums, grad_theta + (block << Inner));
  }
  fold_outer_backward(x + Inner * kTile, outer, values, weights, grad_x + Inner * kTile);
}

// Gradients as matrix products. The output is sum_ij slopes_ij h_i l_j, where h weighs the blocks
// and l has for each pair of inner leaves its weight and that times input 0. With w = g h, the
// gradient of the output times h,
//   values_i = sum_j slopes_ij l_j, which give the gradients of the outer inputs,
//   slices_j = sum_i slopes_ij w_i, which give those of the inner ones,
// and the gradient of leaf j of block i is the sum over rows of w_i times the weight of the leaf.

constexpr int kPartLeaves = 4;  // of a block at a time: l and slices of a part stay in registers

// values: [blocks][kTile], added to unless it is the first part. slices: [kPartLeaves][kTile].
HWY_INLINE void multiply_part(const float* slopes, std::size_t blocks, const float* weights,
                              const Grads* l, bool is_first, float* values, float* slices) {
  Grads slice[kPartLeaves];
  for (Grads& each : slice) {
    ESPALIER_EACH each.v[i] = set(0);
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    Grads value;
    ESPALIER_EACH value.v[i] = is_first ? set(0) : load(values + block * kTile + 16 * i);
    for (int j = 0; j < kPartLeaves; ++j) {
      const V16 slope = set(slopes[block * kInnerLeaves + static_cast<std::size_t>(j)]);
      ESPALIER_EACH {
        value.v[i] = fma(slope, l[j].v[i], value.v[i]);
        slice[j].v[i] = fma(slope, load(weights + block * kTile + 16 * i), slice[j].v[i]);
      }
    }
    ESPALIER_EACH store(value.v[i], values + block * kTile + 16 * i);
  }
  for (int j = 0; j < kPartLeaves; ++j) {
    ESPALIER_EACH store(slice[j].v[i], slices + j * kTile + 16 * i);
  }
}

// slices: [kInnerLeaves][kTile]
HWY_INLINE void multiply_by_slopes(const float* slopes, std::size_t blocks, const float* x,
                                   const float* weights, float* values, float* slices) {
  for (int r = 0; r < kTile; r += 16 * kBackwardVectors) {
    for (int part = 0; part < kPartLeaves; ++part) {
      const bool right2 = (part & 1) != 0, right3 = (part & 2) != 0;
      Grads l[kPartLeaves];
      ESPALIER_EACH {
        const auto input = [&](int d) HWY_ATTR { return load(x + d * kTile + r + 16 * i); };
        const auto side = [&](int d, bool right)
                              HWY_ATTR { return right ? input(d) : set(1) - input(d); };
        const V16 outside = side(2, right2) * side(3, right3);
        l[2].v[i] = outside * input(1);
        l[0].v[i] = outside - l[2].v[i];
        l[1].v[i] = l[0].v[i] * input(0);
        l[3].v[i] = l[2].v[i] * input(0);
      }
      multiply_part(slopes + kPartLeaves * part, blocks, weights + r, l, part == 0, values + r,
                    slices + kPartLeaves * part * kTile + r);
    }
  }
}

// values[0 .. 2^inputs) at x[0], x[kTile], ..., folded in place.
template <int Inputs>
HWY_INLINE V16 fold_at(V16* values, const float* x) {
  for (int d = 0, width = 1 << Inputs; width > 1; ++d) {
    width /= 2;
    for (int k = 0; k < width; ++k) {
      const V16 left = values[2 * k];
      values[k] = fma(load(x + d * kTile), values[2 * k + 1] - left, left);
    }
  }
  return values[0];
}

// What the slices mean for the inner inputs: their gradient is the slope of sum_j slices_j l_j.
HWY_INLINE void inner_gradients(const float* slices, const float* x, float* grad_x) {
  constexpr int kPairs = kInnerLeaves / 2;
  for (int r = 0; r < kTile; r += 16) {
    V16 values[kPairs], steps[kPairs];
    for (int p = 0; p < kPairs; ++p) {
      steps[p] = load(slices + (2 * p + 1) * kTile + r);
      values[p] = fma(load(x + r), steps[p], load(slices + 2 * p * kTile + r));
    }
    const float* x1 = x + kTile + r;
    const float* x2 = x1 + kTile;
    const float* x3 = x2 + kTile;
    store(fold_at<3>(steps, x1), grad_x + r);
    for (int k = 0; k < 4; ++k) {
      steps[k] = values[2 * k + 1] - values[2 * k];
      values[k] = fma(load(x1), steps[k], values[2 * k]);
    }
    store(fold_at<2>(steps, x2), grad_x + kTile + r);
    for (int k = 0; k < 2; ++k) {
      steps[k] = values[2 * k + 1] - values[2 * k];
      values[k] = fma(load(x2), steps[k], values[2 * k]);
    }
    store(fold_at<1>(steps, x3), grad_x + 2 * kTile + r);
    store(values[1] - values[0], grad_x + 3 * kTile + r);
  }
}

// rows: [kTile][kInnerLeaves], the weights of the leaves of a block.
HWY_INLINE void weigh_inner_leaves(const float* x, float* rows) {
  // A weight is a product over the inputs d: of x_d where bit d of the leaf is set, else of 1 -
  // x_d.
  HWY_ALIGN float left[kInner][kInnerLeaves], sign[kInner][kInnerLeaves];
  for (int d = 0; d < kInner; ++d) {
    for (std::size_t leaf = 0; leaf < kInnerLeaves; ++leaf) {
      const bool is_right = (leaf >> d & 1) != 0;
      left[d][leaf] = is_right ? 0 : 1;
      sign[d][leaf] = is_right ? 1 : -1;
    }
  }
  for (int r = 0; r < kTile; ++r) {
    const auto factor = [&](int d) HWY_ATTR {
      return fma(set(x[d * kTile + r]), load(sign[d]), load(left[d]));
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

HWY_INLINE void backward_by_products(const float* slopes, int size, const float* x,
                                     const float* grad_out, float* grad_x, float* grad_theta,
                                     float* scratch) {
  const int outer = size - kInner;
  const std::size_t blocks = std::size_t{1} << outer;
  float* weights = scratch;
  float* values = weights + blocks * kTile;
  float* slices = values + blocks * kTile;
  float* rows = slices;  // when those are no longer needed
  weigh_blocks(x + kInner * kTile, outer, grad_out, weights);
  multiply_by_slopes(slopes, blocks, x, weights, values, slices);
  inner_gradients(slices, x, grad_x);
  weigh_inner_leaves(x, rows);
  constexpr int kBlocks = 4 * kBackwardVectors;
  for (std::size_t block = 0; block < blocks; block += kBlocks)
    add_products<kBlocks>(weights + block * kTile, rows, grad_theta + block * kInnerLeaves);
  fold_outer_backward(x + kInner * kTile, outer, values, weights, grad_x + kInner * kTile);
}
#undef ESPALIER_EACH

void lattice_backward(const float* slopes, int size, const float* x, const float* grad_out,
                      float* grad_x, float* grad_theta, float* scratch) {
  switch (size) {
    case 1:
      return backward<1>(slopes, 0, x, grad_out, grad_x, grad_theta, scratch);
    case 2:
      return backward<2>(slopes, 0, x, grad_out, grad_x, grad_theta, scratch);
    case 3:
      return backward<3>(slopes, 0, x, grad_out, grad_x, grad_theta, scratch);
    case 4:
      return backward<4>(slopes, 0, x, grad_out, grad_x, grad_theta, scratch);
    case 5:
      return backward<5>(slopes, 0, x, grad_out, grad_x, grad_theta, scratch);
    case 6:
      return backward<5>(slopes, 1, x, grad_out, grad_x, grad_theta, scratch);
    default:
      static_assert(kLeastProducts == 7);
      return backward_by_products(slopes, size, x, grad_out, grad_x, grad_theta, scratch);
  }
}

#undef ESPALIER_TREE
}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier {

HWY_EXPORT(lattice_forward);
HWY_EXPORT(lattice_backward);

void lattice_slopes(const float* theta, int size, float* slopes) {
  for (std::size_t v = 0; v < std::size_t{1} << size; v += 2) {
    slopes[v] = theta[v];
    slopes[v + 1] = theta[v + 1] - theta[v];
  }
}

void lattice_forward(const float* slopes, int size, const float* x, float* out) {
  HWY_DYNAMIC_DISPATCH(lattice_forward)(slopes, size, x, out);
}

std::size_t lattice_scratch(int size) {
  const int inner = size >= kLeastProducts ? kInner : std::min(size, kBlockInputs);
  const std::size_t blocks = std::size_t{1} << (size - inner);
  return (2 * blocks + kInnerLeaves) * kTile;
}

void lattice_backward(const float* slopes, int size, const float* x, const float* grad_out,
                      float* grad_x, float* grad_theta, float* scratch) {
  HWY_DYNAMIC_DISPATCH(lattice_backward)
  (slopes, size, x, grad_out, grad_x, grad_theta, scratch);
}

}  // namespace espalier
#endif  // HWY_ONCE
