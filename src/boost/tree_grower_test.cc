// SPDX-License-Identifier: Apache-2.0
#include "boost/tree_grower.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/thread_pool.h"
#include "objective/loss.h"
#include "support/effort.h"
#include "support/synthetic_rows.h"

namespace espalier {
namespace {

// Among values that repeat, with weights and quantiles of their own.
TEST(TreeGrower, LeavesOfQuantilesHaveTheLeastLossOfTheirRows) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const SyntheticRows rows(seed, 400);
    ThreadPool pool(2);
    const std::vector<ColumnBins> columns = fit_bins(rows.wires, rows.data, pool);
    const BinnedRows binned(columns, rows.data, rows.label, pool);
    Random random(seed);
    std::vector<Residual> residuals;
    std::vector<GradientPair> gradients;
    for (std::size_t r = 0; r < rows.data.num_rows; ++r) {
      residuals.push_back({static_cast<float>(random.below(30)) - 12,
                           static_cast<float>(0.1 + 0.8 * random.uniform()),
                           static_cast<float>(1 + random.below(3))});
      gradients.push_back({static_cast<std::int32_t>(random.below(100)) - 50, 1});
    }
    std::vector<std::size_t> candidates;  // those whose leaves are not projected
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!columns[c].monotone) candidates.push_back(c);
    }
    TreeGrower grower(columns, binned, pool);
    const Tree tree =
        grower.grow(gradients, candidates,
                    {.leaves = 16, .rate = 1, .score = {.l2 = 1e-9}, .residuals = residuals});
    std::vector<float> values(residuals.size());
    add_values(tree, binned, 0, values);
    const auto loss_at = [&](float leaf, double value) {
      double sum = 0;
      for (std::size_t r = 0; r < residuals.size(); ++r) {
        if (values[r] == leaf)
          sum +=
              residuals[r].weight * pinball_loss(residuals[r].quantile, residuals[r].value, value);
      }
      return sum;
    };
    EXPECT_EQ(tree.splits.size(), 15u);
    for (const float leaf : tree.values) {
      for (int value = -12; value < 18; ++value)
        EXPECT_LE(loss_at(leaf, leaf), loss_at(leaf, value) + 1e-4);
    }
  }
}

// Gradients and hessians of some rows.
struct Sums {
  double gradient = 0, hessian = 0;

  double gain(double l2) const { return gradient * gradient / (hessian + l2); }
  double step(double l2) const { return -gradient / (hessian + l2); }
};

// Every split on a column of numbers.
std::vector<TreeSplit> all_splits(const std::vector<ColumnBins>& columns, std::size_t index) {
  std::vector<TreeSplit> all;
  const ColumnBins& column = columns[index];
  for (std::size_t cut = 0; cut < column.num_bins; ++cut) {
    for (const bool missing_right : {false, true}) {
      TreeSplit split{.column = index, .right = std::vector<std::uint8_t>(column.num_bins)};
      for (std::size_t bin = cut; bin < column.num_bins; ++bin) split.right[bin] = 1;
      if (column.has_missing) split.right[0] = missing_right ? 1 : 0;
      all.push_back(std::move(split));
    }
  }
  return all;
}

struct SlowTree {
  explicit SlowTree(std::uint64_t seed) : rows(seed, 500) {
    for (const double y : rows.data.labels)
      gradients.push_back({static_cast<std::int32_t>(-1000 * y), 1000});
  }

  Tree grow(const std::vector<std::size_t>& candidates, int leaves) {
    return TreeGrower(columns, binned, pool)
        .grow(gradients, candidates, {.leaves = leaves, .rate = 1, .score = {.l2 = kL2}});
  }

  std::vector<Sums> sums_of(const Tree& tree) const {
    std::vector<Sums> sums(tree.values.size());
    for (std::size_t r = 0; r < gradients.size(); ++r) {
      Sums& own = sums[tree.leaf(binned, r)];
      own.gradient += gradients[r].gradient;
      own.hessian += gradients[r].hessian;
    }
    return sums;
  }

  double gain_of(const Tree& tree) const {
    double gain = 0;
    for (const Sums& own : sums_of(tree)) gain += own.gain(kL2);
    return gain;
  }

  // What a further split would add to that, at the leaf that gains most by it.
  double gain_of(const Tree& tree, const TreeSplit& split) const {
    std::vector<std::array<Sums, 2>> leaves(tree.values.size());
    for (std::size_t r = 0; r < gradients.size(); ++r) {
      const std::uint8_t side_of_row = split.right[binned.column(split.column)[r]];
      Sums& side = leaves[tree.leaf(binned, r)][side_of_row];
      side.gradient += gradients[r].gradient;
      side.hessian += gradients[r].hessian;
    }
    double most = 0;
    for (const auto& [left, right] : leaves) {
      if (columns[split.column].monotone && left.step(kL2) > right.step(kL2)) continue;
      const Sums both{left.gradient + right.gradient, left.hessian + right.hessian};
      most = std::max(most, left.gain(kL2) + right.gain(kL2) - both.gain(kL2));
    }
    return most;
  }

  static constexpr double kL2 = 2000;
  SyntheticRows rows;
  ThreadPool pool{2};
  std::vector<ColumnBins> columns = fit_bins(rows.wires, rows.data, pool);
  BinnedRows binned{columns, rows.data, rows.label, pool};
  std::vector<GradientPair> gradients;
};

// Split after split, each the best of all, found by trying every one at every leaf.
TEST(TreeGrower, FindsTheSplitThatImprovesTheLossMost) {
  for (const std::uint64_t seed : {8, 9, 10}) {
    SlowTree slow(seed);
    const std::vector<std::size_t> candidates = {0, 1, 2, 5};  // numbers
    for (int leaves = 1; leaves < 9; ++leaves) {
      const Tree before = slow.grow(candidates, leaves), after = slow.grow(candidates, leaves + 1);
      double most = 0;
      for (const std::size_t c : candidates) {
        for (const TreeSplit& split : all_splits(slow.columns, c))
          most = std::max(most, slow.gain_of(before, split));
      }
      EXPECT_NEAR(slow.gain_of(after) - slow.gain_of(before), most, 1e-6 * most) << leaves;
    }
  }
}

TEST(TreeGrower, LeavesHaveTheNewtonStepOfTheirRows) {
  for (const std::uint64_t seed : {8, 9, 10}) {
    SlowTree slow(seed);
    const Tree tree = slow.grow({1, 3, 4, 5}, 30);  // free ones, whose leaves are not projected
    const std::vector<Sums> sums = slow.sums_of(tree);
    ASSERT_EQ(sums.size(), 30u);
    for (std::size_t leaf = 0; leaf < sums.size(); ++leaf)
      EXPECT_NEAR(tree.values[leaf], sums[leaf].step(SlowTree::kL2), 1e-5);
  }
}

// For all combinations of bins, not only those of the training rows.
TEST(TreeGrower, NeverDecreasesAlongMonotoneColumns) {
  for (std::uint64_t seed = 1; seed <= effort<std::uint64_t>(20, 5); ++seed) {
    SlowTree slow(seed);
    const Tree tree = slow.grow({0, 1, 2, 3, 4, 5}, 40);
    Random random(seed);
    const std::vector<Order> orders = leaf_orders(tree, slow.columns);
    EXPECT_FALSE(orders.empty());
    EXPECT_EQ(check_orders(tree.values, orders).violations, 0u);
    for (int pair = 0; pair < 2000; ++pair) {
      std::vector<std::uint8_t> low, high;
      for (const ColumnBins& column : slow.columns) {
        low.push_back(static_cast<std::uint8_t>(random.below(column.num_bins)));
        const bool rises = column.monotone && low.back() >= column.first_value();
        high.push_back(rises ? static_cast<std::uint8_t>(low.back() +
                                                         random.below(column.num_bins - low.back()))
                             : low.back());
      }
      const auto value_at = [&](const std::vector<std::uint8_t>& bins) {
        std::int32_t at = 0;
        while (at >= 0) {
          const TreeSplit& split = tree.splits[static_cast<std::size_t>(at)];
          at = tree.next[static_cast<std::size_t>(at)][split.right[bins[split.column]]];
        }
        return tree.values[static_cast<std::size_t>(~at)];
      };
      ASSERT_LE(value_at(low), value_at(high));
    }
  }
}

}  // namespace
}  // namespace espalier
