// SPDX-License-Identifier: Apache-2.0
#include "boost/decision_forest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "core/float_rank.h"
#include "model/leaf_orders.h"
#include "support/effort.h"
#include "support/synthetic_rows.h"

namespace espalier {
namespace {

Forest grown(const SyntheticRows& rows, int trees, int leaves) {
  const Objective objective(rows.label, rows.data);
  const Dataset no_rows;
  ThreadPool pool(2);
  return grow_forest({.objective = &objective,
                      .wires = std::span(rows.wires).first(rows.data.num_features),
                      .level_wire = rows.wires.size() - 1,
                      .train = &rows.data,
                      .valid = &no_rows,
                      .plan = {.trees = trees, .leaves = leaves, .rate = 0.3},
                      .random = Random(5),
                      .pool = &pool,
                      .goes_on = [](std::span<const Tree>) { return true; }});
}

// A row of the dataset as a predictor reads it.
std::vector<float> cells_of(const SyntheticRows& rows, std::size_t row) {
  std::vector<float> cells(rows.data.row(row), rows.data.row(row) + rows.data.num_features);
  for (float& cell : cells) {
    if (cell < 0) cell = std::numeric_limits<float>::quiet_NaN();
  }
  return cells;
}

TEST(DecisionForestOfBins, GivesEveryTrainingRowTheSumOfItsLeaves) {
  for (const Loss loss : kSyntheticLosses) {
    for (const int leaves : {2, 7, 40}) {
      const SyntheticRows rows(static_cast<std::uint64_t>(leaves), 700, loss);
      const Forest grown_forest = grown(rows, 12, leaves);
      ASSERT_EQ(grown_forest.trees.size(), 12u);
      ThreadPool pool(2);
      const BinnedRows binned(grown_forest.columns, rows.data, rows.label, pool);
      std::vector<float> sums(binned.num_rows());
      for (const Tree& tree : grown_forest.trees) add_values(tree, binned, 0, sums);
      const Schema schema = rows.schema();
      const DecisionForest forest = decision_forest(grown_forest, schema);
      const std::size_t levels = rows.label.num_levels();
      for (std::size_t i = 0; i < sums.size(); ++i) {
        if (rows.has_unseen_category(i / levels)) continue;
        const float output = evaluate(forest, schema, cells_of(rows, i / levels), i % levels);
        ASSERT_EQ(std::bit_cast<std::uint32_t>(output), std::bit_cast<std::uint32_t>(sums[i]));
      }
    }
  }
}

TEST(DecisionForestOfBins, SendsUnseenCategoriesWhereMostRowsGo) {
  const SyntheticRows rows(3, 500);
  const Schema schema = rows.schema();
  const DecisionForest forest = decision_forest(grown(rows, 20, 30), schema);
  int right = 0, left = 0;
  for (const DecisionTree& tree : forest.trees) {
    for (const DecisionSplit& split : tree.splits) {
      const Feature& feature = schema.features[split.feature];
      if (feature.kind != FeatureKind::category) continue;
      const std::size_t words = feature.shares.size();
      std::size_t in_set = 0;
      for (std::size_t code = 0; code < words; ++code) in_set += forest.has(split.set, code);
      EXPECT_EQ(forest.has(split.set, words), 2 * in_set > words);
      ++(2 * in_set > words ? right : left);
    }
  }
  EXPECT_GT(right, 3);
  EXPECT_GT(left, 3);
}

// Thresholds lie between the rows that they divide, also where the rows have neighboring values.
TEST(DecisionForestOfBins, DividesNeighboringFloats) {
  SyntheticRows rows(5, 400);
  const float low = 3, high = std::nextafter(3.0f, 4.0f);
  for (std::size_t r = 0; r < rows.data.num_rows; ++r) {
    rows.data.cells[r * rows.data.num_features] = r % 2 == 0 ? low : high;
    rows.data.labels[r] = r % 2 == 0 ? 0 : 1;
  }
  const Schema schema = rows.schema();
  const DecisionForest forest = decision_forest(grown(rows, 1, 2), schema);
  ASSERT_EQ(forest.trees[0].splits.size(), 1u);
  EXPECT_EQ(forest.trees[0].splits[0].threshold, high);
}

// Every second feature with a direction counts from the other end.
TEST(DecisionForestOfBins, SwapsTheSidesOfSplitsOnDecreasingFeatures) {
  const SyntheticRows rows(4, 600);
  const Forest forest = grown(rows, 10, 20);
  const Schema rising = rows.schema();
  Schema falling = rising;
  falling.features[0].monotonicity = Monotonicity::decreasing;
  std::vector<float>& keypoints = falling.features[0].keypoints;
  for (float& x : keypoints) x = -x;
  std::ranges::reverse(keypoints);
  const DecisionForest up = decision_forest(forest, rising),
                       down = decision_forest(forest, falling);
  for (std::size_t r = 0; r < rows.data.num_rows; ++r) {
    std::vector<float> cells = cells_of(rows, r);
    const float wanted = evaluate(up, rising, cells);
    cells[0] = -cells[0];
    ASSERT_EQ(evaluate(down, falling, cells), wanted);
  }
  EXPECT_EQ(count_leaf_orders(up, rising), count_leaf_orders(down, falling));
}

// So the projection of the trees while they grow is enough.
TEST(DecisionForestOfBins, NeedsNoOrderThatItsTreesWereGrownWithout) {
  std::size_t count = 0;
  for (std::uint64_t seed = 1; seed <= effort<std::uint64_t>(40, 8); ++seed) {
    const SyntheticRows rows(seed, 300, kSyntheticLosses[seed % std::size(kSyntheticLosses)]);
    const Forest forest = grown(rows, 10, 2 + static_cast<int>(seed * seed % 60));
    const Schema schema = rows.schema();
    const DecisionForest split_on_features = decision_forest(forest, schema);
    const Check check = check_forest(split_on_features, schema,
                                     [](const std::string& culprit) { FAIL() << culprit; });
    EXPECT_GT(check.inequalities, 0u);
    for (std::size_t t = 0; t < forest.trees.size(); ++t) {
      const std::vector<Order> known = leaf_orders(forest.trees[t], forest.columns);
      const DecisionTree& tree = split_on_features.trees[t];
      for (const Order& order : leaf_orders(split_on_features, tree, schema)) {
        EXPECT_TRUE(std::ranges::find(known, order) != known.end());
        ++count;
      }
    }
  }
  EXPECT_GT(count, 1000u);
}

}  // namespace
}  // namespace espalier
