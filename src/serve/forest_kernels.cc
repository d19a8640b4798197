// SPDX-License-Identifier: Apache-2.0
#include "serve/forest_kernels.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "layers/instruction_sets.h"
#include "layers/tile.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "serve/forest_kernels.cc"
// clang-format off: the order matters
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

#ifndef ESPALIER_TILED_ROWS
#define ESPALIER_TILED_ROWS
namespace espalier {

// Rows of a tile that are summed side by side: each sum is a chain of additions.
constexpr std::size_t kRowsAtOnce = 4;

}  // namespace espalier
#endif

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// masks[kBlockWords] = the AND of the lines of a row, one for each column. entries: where line_of
// has that of block 0.
HWY_INLINE void and_lines(const LeafMasks& own, std::size_t block, const float* entries,
                          std::size_t num_columns, std::uint32_t* masks) {
  const hn::CappedTag<std::uint32_t, 16> d;
  using Vector = hn::Vec<decltype(d)>;
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  constexpr std::size_t kParts = kBlockWords / kLanes;
  const std::uint32_t* first =
      own.lines.data() + std::size_t{own.blocks[block].first_line} * kBlockWords;
  const std::uint16_t* line_of = own.line_of.data() + block;
  Vector parts[kParts];
  for (std::size_t i = 0; i < kParts; ++i) parts[i] = hn::Set(d, ~std::uint32_t{0});
  for (std::size_t c = 0; c < num_columns; ++c) {
    std::uint32_t entry;
    std::memcpy(&entry, entries + c, sizeof entry);
    const std::uint32_t* line = first + std::size_t{line_of[entry]} * kBlockWords;
    for (std::size_t i = 0; i < kParts; ++i)
      parts[i] = hn::And(parts[i], hn::Load(d, line + i * kLanes));
  }
  for (std::size_t i = 0; i < kParts; ++i) hn::Store(parts[i], d, masks + i * kLanes);
}

// Where line_of has the lines of block 0 for one row; input i is in[i * stride].
HWY_INLINE void find_entries(const LeafMasks& own, const RankedColumns& ranked, const float* in,
                             std::size_t stride, float* entries) {
  const auto num_blocks = static_cast<std::uint32_t>(own.blocks.size());
  for (std::size_t c = 0; c < ranked.columns.size(); ++c) {
    const RankedColumn& column = ranked.columns[c];
    const std::uint32_t rank = ranked.rank(column, in[column.wire * stride]);
    const std::uint32_t entry = own.column_begin[c] + rank * num_blocks;
    std::memcpy(entries + c, &entry, sizeof entry);
  }
}

// Adds the leaves of the trees of a block to the sum of each row. entries: [Rows][num_columns].
template <std::size_t Rows>
HWY_INLINE void add_block(const LeafMasks& own, std::size_t b, const float* entries,
                          std::size_t num_columns, float* out) {
  alignas(64) std::uint32_t masks[Rows][kBlockWords];
  for (std::size_t r = 0; r < Rows; ++r)
    and_lines(own, b, entries + r * num_columns, num_columns, masks[r]);
  float sums[Rows];
  for (std::size_t r = 0; r < Rows; ++r) sums[r] = out[r];
  const LeafMasks::Block& block = own.blocks[b];
  const float* leaves = own.leaves.data() + block.leaves;
  if (own.pairs.empty()) {
    for (std::size_t t = 0; t < block.num_trees; ++t, leaves += 32) {
      for (std::size_t r = 0; r < Rows; ++r) sums[r] += leaves[std::countr_zero(masks[r][t])];
    }
  } else {
    const std::uint8_t* pairs = own.pairs.data() + block.first_tree;
    std::size_t pair = 0;
    for (std::size_t t = 0; t < block.num_trees; ++t) {
      float values[Rows] = {};
      for (const std::size_t end = pair + pairs[t]; pair < end; ++pair, leaves += 65) {
        for (std::size_t r = 0; r < Rows; ++r) {
          std::uint64_t bits;
          std::memcpy(&bits, masks[r] + 2 * pair, sizeof bits);
          values[r] += leaves[std::countr_zero(bits)];
        }
      }
      for (std::size_t r = 0; r < Rows; ++r) sums[r] += values[r];
    }
  }
  for (std::size_t r = 0; r < Rows; ++r) out[r] = sums[r];
}

void masked_row(const LeafMasks& masks, const RankedColumns& ranked, const float* in,
                float* scratch, float* out) {
  find_entries(masks, ranked, in, 1, scratch);
  *out = 0;
  for (std::size_t b = 0; b < masks.blocks.size(); ++b)
    add_block<1>(masks, b, scratch, ranked.columns.size(), out);
}

// Block by block, so that its lines stay in the nearest cache.
void masked_tile(const LeafMasks& masks, const RankedColumns& ranked, const float* in,
                 float* scratch, float* out) {
  const std::size_t num_columns = ranked.columns.size();
  for (std::size_t r = 0; r < kTile; ++r) {
    find_entries(masks, ranked, in + r, kTile, scratch + r * num_columns);
    out[r] = 0;
  }
  for (std::size_t b = 0; b < masks.blocks.size(); ++b) {
    for (std::size_t r = 0; r < kTile; r += kRowsAtOnce)
      add_block<kRowsAtOnce>(masks, b, scratch + r * num_columns, num_columns, out + r);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier {

HWY_EXPORT(masked_row);
HWY_EXPORT(masked_tile);

std::size_t masked_scratch_size(const RankedColumns& ranked) {
  return kTile * ranked.columns.size();
}
void masked_row(const LeafMasks& masks, const RankedColumns& ranked, const float* in,
                float* scratch, float* out) {
  HWY_DYNAMIC_DISPATCH(masked_row)(masks, ranked, in, scratch, out);
}
void masked_tile(const LeafMasks& masks, const RankedColumns& ranked, const float* in,
                 float* scratch, float* out) {
  HWY_DYNAMIC_DISPATCH(masked_tile)(masks, ranked, in, scratch, out);
}

}  // namespace espalier
#endif  // HWY_ONCE
