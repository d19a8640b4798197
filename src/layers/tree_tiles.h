// SPDX-License-Identifier: Apache-2.0
// Trees over a tile: the answers of all its rows to a question are 64 bits, found once for all
// trees that ask it; then rows come to the leaves of a tree by two operations a question, and no
// branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "layers/tile.h"
#include "layers/tree_plan.h"

namespace espalier {

/// Of a tile. Bit r: row r answers that it is above. In scratch they lie in two floats.
using Answers = std::uint64_t;
static_assert(kTile == 64);

class TreeTiles {
 public:
  explicit TreeTiles(const TreePlan& plan);

  /// The different questions that trees ask, by wire and then by number; `next` means nothing.
  const std::vector<TreeQuestion>& splits() const { return splits_; }

  /// answers: to each of asked(), two floats each. out: [trees][kTile].
  void run(const float* answers, const float* leaves, float* out) const noexcept;

 private:
  // Where the rows go that are at a question: a question of the tree, or behind those a leaf.
  struct Fork {
    std::uint32_t answer;  // of asked()
    std::uint32_t to[2];
  };
  std::vector<TreeQuestion> splits_;
  std::vector<Fork> forks_;          // of one tree after another
  std::vector<std::size_t> leaves_;  // of each tree
};

}  // namespace espalier
