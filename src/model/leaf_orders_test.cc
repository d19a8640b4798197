// SPDX-License-Identifier: Apache-2.0
#include "model/leaf_orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "support/effort.h"
#include "support/random_forest.h"

namespace espalier {
namespace {

// A feature of each kind, and levels.
Schema small_schema() {
  Schema schema;
  const std::vector<float> keypoints = {0, 1, 2};
  schema.features = {
      {.name = "up",
       .monotonicity = Monotonicity::increasing,
       .keypoints = keypoints,
       .learns_missing = true},
      {.name = "down", .monotonicity = Monotonicity::decreasing, .keypoints = keypoints},
      {.name = "free", .keypoints = keypoints, .learns_missing = true},
      {.name = "color",
       .kind = FeatureKind::category,
       .categories = {"red", "blue"},
       .shares = {0.5f, 0.5f}},
  };
  schema.label = {
      .name = "y", .loss = Loss::quantile, .quantiles = {0.1, 0.5}, .offsets = {0.0, 0.0}};
  return schema;
}

// Thresholds at 1 and 2 alone, so that a few rows reach every leaf that any row reaches.
DecisionForest coarse_forest(const Schema& schema, Random random) {
  DecisionForest forest = RandomForest(schema, random).draw(1, 6);
  for (DecisionSplit& split : forest.trees[0].splits) {
    if (split.feature >= schema.features.size()) continue;
    if (split.threshold > -INFINITY) split.threshold = static_cast<float>(1 + random.below(2));
  }
  return forest;
}

// Rows of cells, and the level behind them.
std::vector<std::vector<float>> all_rows() {
  std::vector<std::vector<float>> rows;
  for (const float up : {NAN, 0.0f, 1.0f, 2.0f}) {
    for (const float down : {NAN, 0.0f, 1.0f, 2.0f}) {
      for (const float free : {NAN, 0.0f, 1.0f, 2.0f}) {
        for (const float color : {0.0f, 1.0f, 2.0f}) {
          for (const float level : {0.0f, 1.0f}) rows.push_back({up, down, free, color, level});
        }
      }
    }
  }
  return rows;
}

std::size_t leaf_of(const DecisionForest& forest, const Schema& schema,
                    const std::vector<float>& row) {
  const DecisionTree& tree = forest.trees[0];
  std::int32_t at = tree.splits.empty() ? ~0 : 0;
  while (at >= 0) {
    const DecisionSplit& split = tree.splits[static_cast<std::size_t>(at)];
    const bool is_level = split.feature == schema.features.size();
    at = split.next[goes_right(forest, split, is_level ? nullptr : &schema.features[split.feature],
                               row[split.feature])];
  }
  return static_cast<std::size_t>(~at);
}

bool is_raised(const std::vector<float>& low, const std::vector<float>& high) {
  const auto same = [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  const auto at_most = [&](float a, float b) { return a <= b || same(a, b); };
  return at_most(low[0], high[0]) && at_most(high[1], low[1]) && same(low[2], high[2]) &&
         low[3] == high[3] && low[4] <= high[4];
}

using Pairs = std::set<std::pair<std::size_t, std::size_t>>;

Pairs closure(Pairs pairs, std::size_t count) {
  for (std::size_t via = 0; via < count; ++via) {
    for (std::size_t low = 0; low < count; ++low) {
      for (std::size_t high = 0; high < count && pairs.contains({low, via}); ++high)
        if (pairs.contains({via, high})) pairs.emplace(low, high);
    }
  }
  return pairs;
}

// Every pair of rows of which the second has constrained features raised gives an order. What these
// orders imply is what the reduced ones imply, and none of the reduced ones can be left out.
TEST(LeafOrders, AreThoseOfAllPairsOfRowsAndReduced) {
  const Schema schema = small_schema();
  const std::vector<std::vector<float>> rows = all_rows();
  std::size_t count = 0;
  for (int seed = 0; seed < effort(60, 10); ++seed) {
    const DecisionForest forest = coarse_forest(schema, Random(static_cast<std::uint64_t>(seed)));
    std::vector<std::size_t> leaves;
    for (const auto& row : rows) leaves.push_back(leaf_of(forest, schema, row));
    Pairs wanted, found;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = 0; j < rows.size(); ++j) {
        if (leaves[i] != leaves[j] && is_raised(rows[i], rows[j]))
          wanted.emplace(leaves[i], leaves[j]);
      }
    }
    for (const Order& order : leaf_orders(forest, forest.trees[0], schema))
      found.emplace(order.low, order.high);
    const std::size_t size = forest.trees[0].leaves.size();
    const Pairs implied = closure(found, size);
    EXPECT_EQ(implied, closure(wanted, size)) << "seed " << seed;
    for (const auto& order : found) {
      Pairs others = found;
      others.erase(order);
      EXPECT_FALSE(closure(others, size).contains(order)) << "seed " << seed;
      EXPECT_FALSE(implied.contains({order.second, order.first})) << "seed " << seed;
    }
    count += found.size();
  }
  EXPECT_GT(count, 100u);
}

TEST(LeafOrders, LeadFromHighValuesOfADecreasingFeatureToLowOnes) {
  const Schema schema = small_schema();
  DecisionTree tree{.splits = {{.feature = 1, .threshold = 1, .next = {~0, 1}},
                               {.feature = 1, .threshold = 2, .next = {~1, ~2}}},
                    .leaves = {3, 2, 1}};
  DecisionForest forest{.trees = {tree}, .sets = {}};
  EXPECT_THAT(leaf_orders(forest, tree, schema),
              testing::UnorderedElementsAre(Order{2, 1}, Order{1, 0}));
  const CulpritSink none = [](const std::string& culprit) { ADD_FAILURE() << culprit; };
  EXPECT_EQ(check_forest(forest, schema, none).inequalities, 5u);
  EXPECT_EQ(count_leaf_orders(forest, schema), 2u);
  EXPECT_EQ(largest_output(forest), 3);
  forest.trees[0].leaves[0] = std::nextafter(2.0f, 0.0f);
  std::vector<std::string> culprits;
  const Check check = check_forest(
      forest, schema, [&](const std::string& culprit) { culprits.push_back(culprit); });
  EXPECT_EQ(check.violations, 1u);
  EXPECT_THAT(culprits, testing::ElementsAre("tree 0: leaf 1 is 2, above leaf 0, 1.9999999"));
  forest.trees[0].leaves[1] = NAN;
  EXPECT_EQ(check_forest(forest, schema, [](const std::string&) {}).violations, 3u);
}

}  // namespace
}  // namespace espalier
