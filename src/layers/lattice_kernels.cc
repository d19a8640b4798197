// SPDX-License-Identifier: Apache-2.0
#include "layers/lattice_kernels.h"

#include <algorithm>

#include "layers/instruction_sets.h"
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
// in registers.
constexpr int kBlockInputs = 5;

}  // namespace espalier
#endif

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

// Rows that go through the tree together: as many as leave room in the registers.
#if HWY_TARGET == HWY_AVX3
constexpr int kVectors = 4;
#else
constexpr int kVectors = 1;
#endif

struct Nodes {  // the same node for each of the rows
  V16 v[kVectors];
};

HWY_INLINE Nodes fold(const float* x, const Nodes& left, const Nodes& right) {
  Nodes node;
  for (int i = 0; i < kVectors; ++i)
    node.v[i] = fma(load(x + 16 * i), right.v[i] - left.v[i], left.v[i]);
  return node;
}

// The node over the first `Inputs` inputs, depth first.
template <int Inputs>
ESPALIER_UNROLLED Nodes tree(const float* slopes, const float* x) {
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

}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier {

HWY_EXPORT(lattice_forward);

void lattice_slopes(const float* theta, int size, float* slopes) {
  for (std::size_t v = 0; v < std::size_t{1} << size; v += 2) {
    slopes[v] = theta[v];
    slopes[v + 1] = theta[v + 1] - theta[v];
  }
}

void lattice_forward(const float* slopes, int size, const float* x, float* out) {
  HWY_DYNAMIC_DISPATCH(lattice_forward)(slopes, size, x, out);
}

}  // namespace espalier
#endif  // HWY_ONCE
