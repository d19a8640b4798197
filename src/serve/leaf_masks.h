// SPDX-License-Identifier: Apache-2.0
// A forest as masks that are looked up instead of trees that are walked.
//
// Every leaf has a bit. For each rank of each column a mask has a 0 for every leaf that a row with
// this rank cannot reach. The AND of a row's masks, one for each column, leaves one bit in each
// tree: its leaf. (Splits that the row does not come to exclude leaves too, but never its own.)
//
//   words    32 leaves of one tree, in reading order; a tree has as many as it needs, and from 33
//            leaves on an even number
//   blocks   kBlockWords words: the trees one after another as far as they fit
//   lines    the masks of one block, each different one once; which is that of rank r of column c
//   in
//            block b is line_of[column_begin[c] + r * num_blocks + b]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/aligned.h"
#include "serve/ranks.h"

namespace espalier {

inline constexpr std::size_t kBlockWords = 32;

struct LeafMasks {
  struct Block {
    std::uint32_t first_line = 0;
    std::uint32_t first_tree = 0;
    std::uint32_t num_trees = 0;
    std::uint32_t leaves = 0;  // where those of its first tree begin
  };
  std::vector<Block> blocks;
  std::vector<std::uint32_t> column_begin;
  std::vector<std::uint16_t> line_of;
  std::vector<std::uint32_t, AlignedAllocator<std::uint32_t>> lines;  // [line][kBlockWords]
  /// Of a tree with one word: 32. Else for each pair of words: 64, then 0 for a pair without a bit.
  std::vector<float> leaves;
  /// Pairs of words of each tree; empty if all trees have one word.
  std::vector<std::uint8_t> pairs;

  std::size_t num_bytes() const {
    return lines.size() * sizeof lines[0] + line_of.size() * sizeof line_of[0] +
           leaves.size() * sizeof leaves[0];
  }
};

/// The bytes that masks may take; beyond, the trees are walked: 256 for each split and each of 64
/// more, at most 64 MiB.
std::size_t mask_budget(const DecisionForest& forest);

/// Nothing if they would take more bytes, or a tree has more than 1024 leaves.
std::optional<LeafMasks> leaf_masks(const DecisionForest& forest, const RankedColumns& ranked,
                                    std::size_t budget);

}  // namespace espalier
