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
#undef ESPALIER_EACH

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
    default:
      return backward<kBlockInputs>(slopes, size - kBlockInputs, x, grad_out, grad_x, grad_theta,
                                    scratch);
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
  const int inner = std::min(size, kBlockInputs);
  const std::size_t blocks = std::size_t{1} << (size - inner);
  return 2 * blocks * kTile + std::max<std::size_t>(16, std::size_t{1} << inner) * 16;
}

void lattice_backward(const float* slopes, int size, const float* x, const float* grad_out,
                      float* grad_x, float* grad_theta, float* scratch) {
  HWY_DYNAMIC_DISPATCH(lattice_backward)
  (slopes, size, x, grad_out, grad_x, grad_theta, scratch);
}

}  // namespace espalier
#endif  // HWY_ONCE
