// SPDX-License-Identifier: Apache-2.0
// A forest whose masks would be too large: its trees are walked, kLanes side by side and without
// branches that depend on the row.
//
// A row first gets one bit for each different split of the forest, looked up by the ranks of its
// cells: whether it goes right. A node then is the number of its bit and where it leads: to the
// next node, or to `right`. A leaf leads to itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "serve/ranks.h"

namespace espalier {

class ForestWalk {
 public:
  ForestWalk(const DecisionForest& forest, const RankedColumns& ranked);

  /// Floats.
  std::size_t scratch_size() const { return num_words_; }

  /// The output for one row; input i is in[i * stride].
  float run(const RankedColumns& ranked, const float* in, std::size_t stride,
            float* scratch) const noexcept;

  /// Splits with equal keys get the same answers from every row.
  using SplitKey = std::tuple<std::uint32_t, float, std::uint32_t, bool>;

 private:
  using BitOf = std::map<SplitKey, std::uint32_t>;
  static constexpr std::size_t kLanes = 8;

  struct Node {
    std::uint32_t bit;
    std::uint32_t right;
  };
  // Of one column: its bits are whole words, those of rank r from words_[begin + r * count] on.
  struct Bits {
    std::size_t begin = 0;
    std::size_t count = 0;
  };
  struct Trees {  // kLanes of them, or the last ones
    std::uint32_t roots[kLanes];
    std::uint32_t depth;
  };

  std::uint32_t add_nodes(const DecisionTree& tree, const BitOf& bit_of);

  std::vector<Bits> bits_;
  std::vector<std::uint32_t> words_;
  std::size_t num_words_ = 0;  // of a row
  std::vector<Node> nodes_;
  std::vector<float> values_;  // of each node that is a leaf
  std::vector<Trees> trees_;
  std::size_t num_trees_ = 0;
};

}  // namespace espalier
