// SPDX-License-Identifier: Apache-2.0
#include "serve/leaf_masks.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace espalier {

namespace {

constexpr std::size_t kWordLeaves = 32;
constexpr std::size_t kMaxLines = 65535;  // of a block

using Line = std::array<std::uint32_t, kBlockWords>;

// Leaves of a tree that lie one after the other, by their bits in a line.
struct Stretch {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  void exclude_from(Line& line) const {
    for (std::size_t w = begin / kWordLeaves; w * kWordLeaves < end; ++w) {
      const std::size_t low = std::max<std::size_t>(begin, w * kWordLeaves) - w * kWordLeaves;
      const std::size_t high = std::min<std::size_t>(end, (w + 1) * kWordLeaves) - w * kWordLeaves;
      const std::uint64_t bits = (std::uint64_t{1} << high) - (std::uint64_t{1} << low);
      line[w] &= ~static_cast<std::uint32_t>(bits);
    }
  }
};

// A split of a block: what a row excludes that goes left, and one that goes right.
struct Exclusion {
  const DecisionSplit* split;
  std::uint32_t first_right;  // rank; number, level
  Stretch going[2];
};

// Ranks one after another with the same line.
struct MaskStep {
  std::uint32_t first_rank;
  Line line;
};

std::size_t words_of(const DecisionTree& tree, bool in_pairs) {
  const std::size_t pairs = (tree.leaves.size() + 2 * kWordLeaves - 1) / (2 * kWordLeaves);
  return in_pairs ? 2 * pairs : 1;
}

class Builder {
 public:
  Builder(const DecisionForest& forest, const RankedColumns& ranked)
      : forest_(forest), ranked_(ranked), by_column_(ranked.columns.size()) {}

  std::optional<LeafMasks> build(std::size_t budget) {
    const bool in_pairs = std::ranges::any_of(
        forest_.trees, [](const DecisionTree& tree) { return tree.leaves.size() > kWordLeaves; });
    for (const DecisionTree& tree : forest_.trees) {
      if (words_of(tree, in_pairs) > kBlockWords) return std::nullopt;
    }
    place_trees(in_pairs);
    std::size_t ranks = 0;
    for (const RankedColumn& column : ranked_.columns) {
      masks_.column_begin.push_back(static_cast<std::uint32_t>(ranks * masks_.blocks.size()));
      ranks += column.num_ranks;
    }
    if (ranks * masks_.blocks.size() * sizeof(std::uint16_t) > budget) return std::nullopt;
    masks_.line_of.resize(ranks * masks_.blocks.size());
    for (std::size_t b = 0; b < masks_.blocks.size(); ++b) {
      if (!add_block(b) || masks_.num_bytes() > budget) return std::nullopt;
    }
    return std::move(masks_);
  }

 private:
  void place_trees(bool in_pairs) {
    std::size_t words = kBlockWords;  // of the last block that are taken
    for (std::size_t t = 0; t < forest_.trees.size(); ++t) {
      const DecisionTree& tree = forest_.trees[t];
      const std::size_t own = words_of(tree, in_pairs);
      if (words + own > kBlockWords) {
        masks_.blocks.push_back({.first_tree = static_cast<std::uint32_t>(t),
                                 .leaves = static_cast<std::uint32_t>(masks_.leaves.size())});
        words = 0;
      }
      ++masks_.blocks.back().num_trees;
      begins_.push_back(static_cast<std::uint32_t>(words * kWordLeaves));
      words += own;
      if (in_pairs) masks_.pairs.push_back(static_cast<std::uint8_t>(own / 2));
      const std::size_t step = in_pairs ? 2 * kWordLeaves : kWordLeaves;
      for (std::size_t leaf = 0; leaf < own * kWordLeaves; leaf += step) {
        const std::size_t count = std::min(step, tree.leaves.size() - leaf);
        masks_.leaves.insert(masks_.leaves.end(),
                             tree.leaves.begin() + static_cast<std::ptrdiff_t>(leaf),
                             tree.leaves.begin() + static_cast<std::ptrdiff_t>(leaf + count));
        masks_.leaves.resize(masks_.leaves.size() + step - count + (in_pairs ? 1 : 0));
      }
    }
  }

  // The leaves behind `next` of a split whose tree begins at bit `begin`.
  Stretch stretch_of(std::int32_t next, std::uint32_t begin) const {
    if (next >= 0) return below_[static_cast<std::size_t>(next)];
    const std::uint32_t leaf = begin + static_cast<std::uint32_t>(~next);
    return {leaf, leaf + 1};
  }

  void collect(std::size_t tree_index) {
    const DecisionTree& tree = forest_.trees[tree_index];
    const std::uint32_t begin = begins_[tree_index];
    below_.resize(std::max(below_.size(), tree.splits.size()));
    for (std::size_t s = tree.splits.size(); s-- > 0;) {
      const DecisionSplit& split = tree.splits[s];
      const Stretch left = stretch_of(split.next[0], begin);
      const Stretch right = stretch_of(split.next[1], begin);
      below_[s] = {std::min(left.begin, right.begin), std::max(left.end, right.end)};
      const RankedColumn& column = ranked_.column_of(split);
      by_column_[ranked_.of_wire[split.feature]].push_back(
          {&split, column.is_category ? 0 : ranked_.first_right(split), {right, left}});
    }
  }

  bool add_block(std::size_t b) {
    LeafMasks::Block& block = masks_.blocks[b];
    block.first_line = static_cast<std::uint32_t>(masks_.lines.size() / kBlockWords);
    for (std::vector<Exclusion>& own : by_column_) own.clear();
    for (std::size_t t = 0; t < block.num_trees; ++t) collect(block.first_tree + t);
    slots_.clear();
    for (std::size_t c = 0; c < ranked_.columns.size(); ++c) {
      if (ranked_.columns[c].is_category) {
        exclude_codes(by_column_[c], ranked_.columns[c].num_ranks);
      } else {
        exclude_ranks(by_column_[c], ranked_.columns[c].num_ranks);
      }
      std::uint16_t* line_of = masks_.line_of.data() + masks_.column_begin[c] + b;
      for (std::size_t s = 0; s < steps_.size(); ++s) {
        const std::size_t line = line_number(steps_[s].line, block.first_line);
        if (line > kMaxLines) return false;
        const std::uint32_t end =
            s + 1 < steps_.size() ? steps_[s + 1].first_rank : ranked_.columns[c].num_ranks;
        for (std::uint32_t r = steps_[s].first_rank; r < end; ++r) {
          *line_of = static_cast<std::uint16_t>(line);
          line_of += masks_.blocks.size();
        }
      }
    }
    return true;
  }

  void exclude_codes(const std::vector<Exclusion>& own, std::uint32_t num_codes) {
    steps_.clear();
    for (std::uint32_t code = 0; code < num_codes; ++code) {
      Line& line = steps_.emplace_back(MaskStep{code, kAll}).line;
      for (const Exclusion& each : own)
        each.going[forest_.has(each.split->set, code) ? 1 : 0].exclude_from(line);
    }
  }

  // A step for missing values, one from rank 1 on, and one from each rank on where a split changes
  // its answer. Upwards for the splits where rows go right, then downwards for the others.
  void exclude_ranks(std::vector<Exclusion>& own, std::uint32_t num_ranks) {
    std::ranges::sort(own, {}, &Exclusion::first_right);
    steps_.clear();
    steps_.push_back({0, kAll});
    for (const Exclusion& each : own)
      each.going[each.split->missing_right ? 1 : 0].exclude_from(steps_[0].line);
    if (num_ranks > 1) steps_.push_back({1, kAll});
    for (const Exclusion& each : own) {
      if (each.first_right > steps_.back().first_rank)
        steps_.push_back({each.first_right, steps_.back().line});
      each.going[1].exclude_from(steps_.back().line);
    }
    Line line = kAll;
    auto next = own.end();
    for (std::size_t s = steps_.size(); s-- > 1;) {
      for (; next != own.begin() && std::prev(next)->first_right > steps_[s].first_rank; --next)
        std::prev(next)->going[0].exclude_from(line);
      for (std::size_t w = 0; w < kBlockWords; ++w) steps_[s].line[w] &= line[w];
    }
  }

  // Counted from the first line of the block; a new line is added.
  std::size_t line_number(const Line& line, std::size_t first_line) {
    if (2 * (slots_used_ + 1) > slots_.size() || slots_.empty()) grow_slots(first_line);
    std::uint32_t& slot = slots_[slot_of(line, first_line)];
    if (slot == kFree) {
      slot = static_cast<std::uint32_t>(masks_.lines.size() / kBlockWords - first_line);
      masks_.lines.insert(masks_.lines.end(), line.begin(), line.end());
      ++slots_used_;
    }
    return slot;
  }

  void grow_slots(std::size_t first_line) {
    const std::size_t used = masks_.lines.size() / kBlockWords - first_line;
    slots_.assign(std::max<std::size_t>(256, 4 * used), kFree);
    slots_used_ = used;
    for (std::size_t l = 0; l < used; ++l) {
      Line line;
      std::copy_n(
          masks_.lines.begin() + static_cast<std::ptrdiff_t>((first_line + l) * kBlockWords),
          kBlockWords, line.begin());
      slots_[slot_of(line, first_line)] = static_cast<std::uint32_t>(l);
    }
  }

  // Where the line is, or would be.
  std::size_t slot_of(const Line& line, std::size_t first_line) const {
    std::uint64_t hash = 0;
    for (std::size_t w = 0; w < kBlockWords; w += 2)
      hash = (hash ^ (std::uint64_t{line[w + 1]} << 32 | line[w])) * 0x9e3779b97f4a7c15u;
    std::size_t at = (hash >> 32) % slots_.size();
    while (slots_[at] != kFree &&
           !std::equal(line.begin(), line.end(),
                       masks_.lines.begin() +
                           static_cast<std::ptrdiff_t>((first_line + slots_[at]) * kBlockWords)))
      at = at + 1 == slots_.size() ? 0 : at + 1;
    return at;
  }

  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
  static constexpr Line kAll = [] {
    Line line{};
    line.fill(~std::uint32_t{0});
    return line;
  }();

  const DecisionForest& forest_;
  const RankedColumns& ranked_;
  LeafMasks masks_;
  std::vector<std::uint32_t> begins_;              // of each tree: its first bit in its block
  std::vector<Stretch> below_;                     // of each split of a tree
  std::vector<std::vector<Exclusion>> by_column_;  // of the block
  std::vector<MaskStep> steps_;                    // of one column
  std::vector<std::uint32_t> slots_;               // the lines of the block by their hash
  std::size_t slots_used_ = 0;
};

}  // namespace

std::size_t mask_budget(const DecisionForest& forest) {
  constexpr std::size_t kBytesPerSplit = 256, kMaxBytes = std::size_t{1} << 26;
  std::size_t splits = 64;
  for (const DecisionTree& tree : forest.trees) splits += tree.splits.size();
  return std::min(kMaxBytes, splits * kBytesPerSplit);
}

std::optional<LeafMasks> leaf_masks(const DecisionForest& forest, const RankedColumns& ranked,
                                    std::size_t budget) {
  return Builder(forest, ranked).build(budget);
}

}  // namespace espalier
