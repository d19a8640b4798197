// SPDX-License-Identifier: Apache-2.0
#include "serve/leaf_masks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "support/effort.h"
#include "core/random.h"
#include "hwy/targets.h"
#include "layers/tile.h"
#include "serve/forest_kernels.h"
#include "serve/forest_walk.h"

namespace espalier {
namespace {

constexpr std::size_t kNoLimit = ~std::size_t{0};

struct Shape {
  std::size_t trees;
  std::size_t leaves;  // of a tree, at most
  std::size_t inputs;
  int keypoints;
  int codes;
};

// Leaves are split at random, so that paths are short and long; sides lie in either order.
DecisionTree random_tree(const ForestStep& step, std::size_t num_leaves, Random& random) {
  DecisionTree tree;
  struct Open {
    std::size_t leaves;
    std::int32_t split;  // -1: the root
    std::size_t side;
  };
  std::vector<Open> open = {{num_leaves, -1, 0}};
  while (!open.empty()) {
    const Open own = open.back();
    open.pop_back();
    std::int32_t place;
    if (own.leaves == 1) {
      place = ~static_cast<std::int32_t>(tree.leaves.size());
      tree.leaves.push_back(random.below(20) == 0 ? -0.0f : static_cast<float>(random.normal()));
    } else {
      place = static_cast<std::int32_t>(tree.splits.size());
      DecisionSplit split{.feature = static_cast<std::uint32_t>(random.below(step.inputs.size()))};
      const ForestStep::Input& input = step.inputs[split.feature];
      if (input.num_codes > 0) {
        const std::size_t words = (static_cast<std::size_t>(input.num_codes) + 31) / 32;
        split.set = static_cast<std::uint32_t>(random.below(step.forest.sets.size() - words + 1));
      } else {
        const double at = random.uniform() * (input.keypoints - 1);
        split.threshold = static_cast<float>(random.below(4) == 0 ? std::floor(at) : at);
        split.missing_right = random.below(2) == 0;
      }
      tree.splits.push_back(split);
      const std::size_t first = 1 + random.below(own.leaves - 1);
      const std::size_t side = random.below(2);
      open.push_back({own.leaves - first, place, 1 - side});
      open.push_back({first, place, side});
    }
    if (own.split >= 0) tree.splits[static_cast<std::size_t>(own.split)].next[own.side] = place;
  }
  return tree;
}

ForestStep random_forest(const Shape& shape, Random& random) {
  ForestStep step;
  for (std::size_t i = 0; i < shape.inputs; ++i) {
    const bool is_category = random.below(3) == 0;
    step.inputs.push_back(
        {.num_codes = is_category ? 1 + static_cast<int>(
                                            random.below(static_cast<std::uint64_t>(shape.codes)))
                                  : 0,
         .keypoints = is_category ? 0 : shape.keypoints});
  }
  for (int w = 0; w < shape.codes / 32 + 40; ++w)
    step.forest.sets.push_back(static_cast<std::uint32_t>(random.below(std::uint64_t{1} << 32)));
  for (std::size_t t = 0; t < shape.trees; ++t) {
    const std::size_t leaves = random.below(3) == 0 ? 1 + random.below(shape.leaves) : shape.leaves;
    step.forest.trees.push_back(random_tree(step, leaves, random));
  }
  return step;
}

// Cells on thresholds and beside them, at the ends, missing, and all codes.
std::vector<float> random_inputs(const ForestStep& step, Random& random) {
  std::vector<float> cells;
  for (const ForestStep::Input& input : step.inputs) {
    if (input.num_codes > 0) {
      cells.push_back(
          static_cast<float>(random.below(static_cast<std::uint64_t>(input.num_codes))));
      continue;
    }
    const float last = static_cast<float>(input.keypoints - 1);
    float x = static_cast<float>(random.uniform()) * last;
    if (random.below(3) == 0) x = std::floor(x);
    if (random.below(10) == 0) x = random.below(2) == 0 ? 0 : last;
    cells.push_back(random.below(10) == 0 ? -1 : x);
  }
  for (const DecisionTree& tree : step.forest.trees) {
    for (const DecisionSplit& split : tree.splits) {
      const ForestStep::Input& input = step.inputs[split.feature];
      if (input.num_codes > 0 || random.below(3 * tree.splits.size()) != 0) continue;
      const float near[] = {split.threshold, std::nextafter(split.threshold, -1.0f),
                            std::nextafter(split.threshold, 1e9f)};
      cells[split.feature] =
          std::clamp(near[random.below(3)], 0.0f, static_cast<float>(input.keypoints - 1));
    }
  }
  return cells;
}

float by_hand(const ForestStep& step, const std::vector<float>& cells) {
  float sum = 0;
  for (const DecisionTree& tree : step.forest.trees) {
    std::int32_t at = tree.splits.empty() ? ~0 : 0;
    while (at >= 0) {
      const DecisionSplit& split = tree.splits[static_cast<std::size_t>(at)];
      const float x = cells[split.feature];
      const bool right = step.inputs[split.feature].num_codes > 0
                             ? step.forest.has(split.set, static_cast<std::size_t>(x))
                         : x < 0 ? split.missing_right
                                 : x >= split.threshold;
      at = split.next[right ? 1 : 0];
    }
    sum += tree.leaves[static_cast<std::size_t>(~at)];
  }
  return sum;
}

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

void expect_same_bits(const ForestStep& step, Random& random) {
  const RankedColumns ranked(step);
  const ForestWalk walk(step.forest, ranked);
  const std::optional<LeafMasks> masks = leaf_masks(step.forest, ranked, kNoLimit);
  ASSERT_TRUE(masks);
  std::vector<float> scratch(std::max(walk.scratch_size(), masked_scratch_size(ranked)));
  std::vector<float> tile(step.inputs.size() * kTile), tiled(kTile), wanted;
  for (std::size_t r = 0; r < kTile; ++r) {
    const std::vector<float> cells = random_inputs(step, random);
    wanted.push_back(by_hand(step, cells));
    for (std::size_t i = 0; i < cells.size(); ++i) tile[i * kTile + r] = cells[i];
    float one;
    masked_row(*masks, ranked, cells.data(), scratch.data(), &one);
    ASSERT_EQ(bits(one), bits(wanted[r]));
    ASSERT_EQ(bits(walk.run(ranked, cells.data(), 1, scratch.data())), bits(wanted[r]));
    ASSERT_EQ(bits(walk.run(ranked, tile.data() + r, kTile, scratch.data())), bits(wanted[r]));
  }
  masked_tile(*masks, ranked, tile.data(), scratch.data(), tiled.data());
  for (std::size_t r = 0; r < kTile; ++r) ASSERT_EQ(bits(tiled[r]), bits(wanted[r])) << r;
}

TEST(LeafMasks, GiveTheBitsOfWalkedTreesOnEveryInstructionSet) {
  const Shape shapes[] = {{1, 1, 1, 2, 1},      {40, 32, 5, 20, 9},    {33, 31, 12, 150, 70},
                          {20, 33, 3, 2, 1000}, {20, 64, 8, 40, 33},   {9, 65, 4, 300, 31},
                          {30, 256, 6, 50, 40}, {100, 16, 61, 10, 32}, {70, 4, 2, 1000, 2}};
  const std::int64_t supported = hwy::SupportedTargets();
  Random random(5);
  for (std::int64_t rest = supported; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    hwy::GetChosenTarget().Update(rest & -rest);
    for (const Shape& shape : shapes) {
      for (int i = 0; i < effort(4, 1); ++i)
        expect_same_bits(random_forest(shape, random), random);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(supported);
}

TEST(LeafMasks, AreNothingWhereTheyWouldBeTooLarge) {
  Random random(6);
  // Many ranks in many blocks, and few splits in each.
  ForestStep wide = random_forest({3000, 2, 40, 1000, 1}, random);
  EXPECT_FALSE(leaf_masks(wide.forest, RankedColumns(wide), mask_budget(wide.forest)));
  EXPECT_TRUE(leaf_masks(wide.forest, RankedColumns(wide), kNoLimit));
  ForestStep long_tree = random_forest({1, 1025, 3, 40, 1}, random);
  long_tree.forest.trees = {random_tree(long_tree, 1025, random)};
  EXPECT_FALSE(leaf_masks(long_tree.forest, RankedColumns(long_tree), kNoLimit));
}

TEST(LeafMasks, KeepEveryDifferentLineOnce) {
  Random random(7);
  const ForestStep step = random_forest({40, 32, 6, 50, 20}, random);
  const std::optional<LeafMasks> masks = leaf_masks(step.forest, RankedColumns(step), kNoLimit);
  ASSERT_TRUE(masks);
  for (std::size_t b = 0; b < masks->blocks.size(); ++b) {
    const std::size_t end = b + 1 < masks->blocks.size() ? masks->blocks[b + 1].first_line
                                                         : masks->lines.size() / kBlockWords;
    std::vector<std::vector<std::uint32_t>> lines;
    for (std::size_t l = masks->blocks[b].first_line; l < end; ++l) {
      const auto line = masks->lines.begin() + static_cast<std::ptrdiff_t>(l * kBlockWords);
      lines.emplace_back(line, line + kBlockWords);
    }
    std::ranges::sort(lines);
    EXPECT_EQ(std::ranges::adjacent_find(lines), lines.end());
  }
}

}  // namespace
}  // namespace espalier
