// SPDX-License-Identifier: Apache-2.0
#include "serve/forest_walk.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace espalier {

namespace {

constexpr std::size_t kWordBits = 32;

ForestWalk::SplitKey key_of(const DecisionSplit& split) {
  return {split.feature, split.threshold, split.set, split.missing_right};
}

}  // namespace

ForestWalk::ForestWalk(const DecisionForest& forest, const RankedColumns& ranked)
    : bits_(ranked.columns.size()), num_trees_(forest.trees.size()) {
  BitOf bit_of;
  std::vector<std::vector<const DecisionSplit*>> of_column(ranked.columns.size());
  for (const DecisionTree& tree : forest.trees) {
    for (const DecisionSplit& split : tree.splits) {
      if (bit_of.try_emplace(key_of(split)).second)
        of_column[ranked.of_wire[split.feature]].push_back(&split);
    }
  }
  // Bit 0 is for the leaves.
  num_words_ = 1;
  for (std::size_t c = 0; c < of_column.size(); ++c) {
    bits_[c] = {words_.size(), (of_column[c].size() + kWordBits - 1) / kWordBits};
    words_.resize(words_.size() + bits_[c].count * ranked.columns[c].num_ranks);
    for (std::size_t i = 0; i < of_column[c].size(); ++i) {
      const DecisionSplit& split = *of_column[c][i];
      bit_of[key_of(split)] = static_cast<std::uint32_t>(num_words_ * kWordBits + i);
      for (std::uint32_t r = 0; r < ranked.columns[c].num_ranks; ++r) {
        if (ranked.goes_right(forest, split, r))
          words_[bits_[c].begin + r * bits_[c].count + i / kWordBits] |= std::uint32_t{1}
                                                                         << i % kWordBits;
      }
    }
    num_words_ += bits_[c].count;
  }
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    const DecisionTree& tree = forest.trees[t];
    if (t % kLanes == 0) trees_.push_back({});
    const auto root = static_cast<std::uint32_t>(nodes_.size());
    trees_.back().depth = std::max(trees_.back().depth, add_nodes(tree, bit_of));
    trees_.back().roots[t % kLanes] = root;
  }
  for (std::size_t lane = num_trees_ % kLanes; lane != 0 && lane < kLanes; ++lane)
    trees_.back().roots[lane] = trees_.back().roots[0];
}

// In reading order, so that what lies left of a split follows it; returns the depth.
std::uint32_t ForestWalk::add_nodes(const DecisionTree& tree, const BitOf& bit_of) {
  struct Place {
    std::int32_t at;  // as in DecisionSplit::next
    std::uint32_t depth;
    std::uint32_t left_of;  // the node of which this is the right side; kNone
  };
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<Place> open = {{tree.splits.empty() ? ~0 : 0, 0, kNone}};
  std::uint32_t depth = 0;
  while (!open.empty()) {
    const Place place = open.back();
    open.pop_back();
    const auto own = static_cast<std::uint32_t>(nodes_.size());
    if (place.left_of != kNone) nodes_[place.left_of].right = own;
    depth = std::max(depth, place.depth);
    if (place.at < 0) {
      nodes_.push_back({0, own});
      values_.push_back(tree.leaves[static_cast<std::size_t>(~place.at)]);
      continue;
    }
    const DecisionSplit& split = tree.splits[static_cast<std::size_t>(place.at)];
    nodes_.push_back({bit_of.at(key_of(split)), 0});
    values_.push_back(0);
    open.push_back({split.next[1], place.depth + 1, own});
    open.push_back({split.next[0], place.depth + 1, kNone});
  }
  return depth;
}

float ForestWalk::run(const RankedColumns& ranked, const float* in, std::size_t stride,
                      float* scratch) const noexcept {
  const float leaf_bits = std::bit_cast<float>(std::uint32_t{1});
  std::memcpy(scratch, &leaf_bits, sizeof leaf_bits);
  float* to = scratch + 1;
  for (std::size_t c = 0; c < bits_.size(); ++c) {
    const RankedColumn& column = ranked.columns[c];
    const std::size_t rank = ranked.rank(column, in[column.wire * stride]);
    std::memcpy(to, words_.data() + bits_[c].begin + rank * bits_[c].count,
                bits_[c].count * sizeof *to);
    to += bits_[c].count;
  }
  float sum = 0;
  std::size_t left = num_trees_;
  for (const Trees& trees : trees_) {
    std::uint32_t at[kLanes];
    std::copy_n(trees.roots, kLanes, at);
    for (std::uint32_t d = 0; d < trees.depth; ++d) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const Node node = nodes_[at[lane]];
        std::uint32_t word;
        std::memcpy(&word, scratch + node.bit / kWordBits, sizeof word);
        // All ones where the row goes right.
        const std::uint32_t mask = 0 - (word >> node.bit % kWordBits & 1);
        at[lane] = (node.right & mask) | ((at[lane] + 1) & ~mask);
      }
    }
    const std::size_t count = std::min(kLanes, left);
    for (std::size_t lane = 0; lane < count; ++lane) sum += values_[at[lane]];
    left -= count;
  }
  return sum;
}

}  // namespace espalier
