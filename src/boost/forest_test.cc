// SPDX-License-Identifier: Apache-2.0
#include "boost/forest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "boost/forest_network.h"
#include "core/effort.h"
#include "model/model_data.h"
#include "model/model_file.h"

namespace espalier {
namespace {

// A made-up table as networks read it: numbers with few and with many values, one of them with missing
// cells, one monotone, and categories with few and with very many words.
struct Rows {
  explicit Rows(std::uint64_t seed, std::size_t count) {
    Random random(seed);
    wires = {{.monotone = true, .keypoints = 30},
             {.keypoints = 7, .learns_missing = true},
             {.monotone = true, .keypoints = 12, .learns_missing = true},
             {.shares = std::vector<float>(3, 1.0f / 3)},
             {.shares = std::vector<float>(400, 1.0f / 400)},
             {.keypoints = 2}};
    data.num_features = wires.size();
    label.loss = Loss::squared_error;
    label.offsets = {0};
    for (std::size_t r = 0; r < count; ++r) add(random);
  }

  void add(Random& random) {
    double y = random.normal();
    for (const Wire& wire : wires) {
      float cell;
      if (wire.is_category()) {
        cell = static_cast<float>(random.below(wire.shares.size() + 1));  // the last is unseen
        y += cell < 2 ? 1 : 0;
      } else {
        const double last = wire.keypoints - 1;
        cell = static_cast<float>(wire.keypoints > 20 ? random.uniform() * last
                                                      : std::floor(random.uniform() * (last + 1)));
        // Against the direction of the first column as often as not.
        y += std::sin(9 * cell / last);
        if (wire.learns_missing && random.below(5) == 0) cell = -1;
      }
      data.cells.push_back(cell);
    }
    data.labels.push_back(y);
    ++data.num_rows;
  }

  std::vector<Wire> wires;
  Dataset data;
  Label label;
};

Forest grown(const Rows& rows, const Dataset& valid, int trees, int depth, int threads) {
  const Objective objective(rows.label, rows.data);
  ThreadPool pool(threads);
  return grow_forest({.objective = &objective,
                      .wires = rows.wires,
                      .train = &rows.data,
                      .valid = &valid,
                      .plan = {.trees = trees, .depth = depth, .rate = 0.3},
                      .random = Random(5),
                      .pool = &pool,
                      .goes_on = [](int) { return true; }});
}

double mean_square(const Rows& rows, const std::vector<float>& outputs) {
  double sum = 0;
  for (std::size_t r = 0; r < rows.data.num_rows; ++r)
    sum += (rows.data.labels[r] - outputs[r]) * (rows.data.labels[r] - outputs[r]);
  return sum / static_cast<double>(rows.data.num_rows);
}

// Such a word counts as the mean of the others in a network.
bool has_unseen(const Rows& rows, std::size_t row) {
  for (std::size_t c = 0; c < rows.wires.size(); ++c) {
    const Wire& wire = rows.wires[c];
    if (wire.is_category() && rows.data.row(row)[c] == static_cast<float>(wire.shares.size()))
      return true;
  }
  return false;
}

const Dataset kNoRows;

TEST(Bins, EveryCellLiesWithinItsBinAndBinsAreInOrder) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Rows rows(seed, 3000);
    ThreadPool pool(2);
    const std::vector<ColumnBins> columns = fit_bins(rows.wires, rows.data, pool);
    const BinnedRows binned(columns, rows.data, pool);
    ASSERT_EQ(columns.size(), rows.wires.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const ColumnBins& column = columns[c];
      EXPECT_LE(column.num_bins, 255u);
      for (std::size_t r = 0; r < rows.data.num_rows; ++r) {
        const float cell = rows.data.row(r)[column.wire];
        const std::uint8_t bin = binned.column(c)[r];
        ASSERT_LT(bin, column.num_bins);
        if (column.is_category) continue;
        if (cell < 0) {
          ASSERT_EQ(bin, 0);
        } else {
          ASSERT_GE(bin, column.first_value());
          ASSERT_TRUE(column.least[bin] <= cell && cell <= column.largest[bin]);
        }
      }
      for (std::size_t b = column.first_value() + 1; b < column.num_bins && !column.is_category;
           ++b)
        EXPECT_LT(column.largest[b - 1], column.least[b]);
    }
  }
}

// The network interpolates between two training rows only where no training row lies.
TEST(ForestNetwork, GivesEveryTrainingRowTheSumOfItsLeaves) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const int depth : {1, 3, 6}) {
      const Rows rows(seed, 700);
      const Forest forest = grown(rows, kNoRows, 12, depth, 2);
      ASSERT_EQ(forest.trees.size(), 12u);
      ThreadPool pool(2);
      const BinnedRows binned(forest.columns, rows.data, pool);
      std::vector<float> sums(rows.data.num_rows);
      for (const Tree& tree : forest.trees) add_leaves(tree, binned, sums, pool);
      const Network network = network_of(forest, rows.wires, depth, MonotoneCalibrators::required);
      const std::vector<float> outputs = network_outputs(network, rows.label, rows.data, pool);
      for (std::size_t r = 0; r < sums.size(); ++r) {
        if (has_unseen(rows, r)) continue;
        ASSERT_NEAR(outputs[r], sums[r], 1e-4);
      }
      EXPECT_LT(mean_square(rows, outputs),
                0.95 * mean_square(rows, std::vector<float>(sums.size())));
    }
  }
}

TEST(ForestNetwork, MeetsEveryInequalityOfItsMonotoneColumns) {
  for (std::uint64_t seed = 1; seed <= effort<std::uint64_t>(30, 8); ++seed) {
    const Rows rows(seed, 300);
    const int depth = 1 + static_cast<int>(seed % 6);
    const Forest forest = grown(rows, kNoRows, 10, depth, 1);
    for (const auto calibrators : {MonotoneCalibrators::required, MonotoneCalibrators::all}) {
      const Network network = network_of(forest, rows.wires, depth, calibrators);
      std::size_t inequalities = 0;
      check_network(
          network, [](const std::string& culprit) { FAIL() << culprit; },
          [&](int, const Check& check) { inequalities += check.inequalities; });
      EXPECT_GT(inequalities, 0u);
    }
  }
}

TEST(Forest, IsTheSameForAnyNumberOfThreads) {
  const Rows rows(4, 20'000);
  const auto bytes = [&](int threads) {
    const Network network = network_of(grown(rows, rows.data, 6, 4, threads), rows.wires, 4,
                                       MonotoneCalibrators::required);
    return std::pair(to_string(network.architecture()),
                     std::vector<float>(network.params().begin(), network.params().end()));
  };
  EXPECT_EQ(bytes(1), bytes(3));
}

std::vector<float> sums_of(const Forest& forest, const Dataset& data) {
  ThreadPool pool(1);
  const BinnedRows binned(forest.columns, data, pool);
  std::vector<float> sums(data.num_rows);
  for (const Tree& tree : forest.trees) add_leaves(tree, binned, sums, pool);
  return sums;
}

bool asks_monotone_column(const Forest& forest, const Tree& tree) {
  return std::ranges::any_of(
      tree.splits, [&](const TreeSplit& split) { return forest.columns[split.column].monotone; });
}

TEST(Forest, EndsWhereTheLossOfTheValidationRowsIsLeast) {
  const Rows rows(6, 400), valid(7, 400);
  const Forest best = grown(rows, valid.data, 200, 6, 1);
  const int end = static_cast<int>(best.trees.size());
  const double least = mean_square(valid, sums_of(best, valid.data));
  ASSERT_GT(end, 5);
  ASSERT_LT(end, 150);
  for (const int more : {-5, -1, 1, 2, 10, 49}) {
    const Forest other = grown(rows, kNoRows, end + more, 6, 1);
    EXPECT_LE(least, mean_square(valid, sums_of(other, valid.data))) << more;
  }
}

// So where a forest ends does not matter to what it was when it ended.
TEST(Forest, ThatEndedIsTheForestOfSoManyTrees) {
  const Rows rows(6, 400), valid(7, 400);
  const Forest ended = grown(rows, valid.data, 200, 6, 1);
  const Forest other = grown(rows, kNoRows, static_cast<int>(ended.trees.size()), 6, 1);
  for (std::size_t t = 0; t < ended.trees.size(); ++t) {
    EXPECT_EQ(ended.trees[t].splits, other.trees[t].splits);
    EXPECT_EQ(ended.trees[t].leaves, other.trees[t].leaves);
  }
}

TEST(Forest, FadesTheTreesThatAskForMonotoneColumnsAndNoOthers) {
  const Rows rows(3, 500);
  const Forest before = grown(rows, kNoRows, 30, 2, 1), after = grown(rows, kNoRows, 40, 2, 1);
  int faded = 0, steady = 0;
  for (std::size_t t = 0; t < before.trees.size(); ++t) {
    const Tree &early = before.trees[t], &late = after.trees[t];
    ASSERT_EQ(early.splits, late.splits);
    const bool asks = asks_monotone_column(before, early);
    ++(asks ? faded : steady);
    const double kept = asks ? std::pow(1 - 0.01 * 0.3, 10) : 1;
    for (std::size_t l = 0; l < early.leaves.size(); ++l)
      EXPECT_NEAR(late.leaves[l], kept * early.leaves[l], 1e-6 * std::abs(early.leaves[l]));
  }
  EXPECT_GT(faded, 3);
  EXPECT_GT(steady, 3);
}

// The last tree of a forest has faded by nothing: its leaves are -rate * G / (n + pull), where G are the
// slopes that the trees before it leave as they are in this forest. All leaves share one pull.
TEST(Forest, EachTreeStepsFromTheSumOfThoseBeforeIt) {
  const Rows rows(3, 2000);
  int tried = 0;
  for (int count = 20; count < 45; ++count) {
    Forest forest = grown(rows, kNoRows, count, 2, 1);
    const Tree last = std::move(forest.trees.back());
    forest.trees.pop_back();
    if (asks_monotone_column(forest, last)) continue;  // its leaves are projected
    ++tried;
    const std::vector<float> sums = sums_of(forest, rows.data);
    ThreadPool pool(1);
    const BinnedRows binned(forest.columns, rows.data, pool);
    std::vector<double> slopes(4), counts(4), pulls;
    for (std::size_t r = 0; r < sums.size(); ++r) {
      std::size_t leaf = 0;
      for (std::size_t d = 0; d < last.splits.size(); ++d)
        leaf |= std::size_t{last.splits[d].right[binned.column(last.splits[d].column)[r]]} << d;
      slopes[leaf] += sums[r] - rows.data.labels[r];
      ++counts[leaf];
    }
    for (std::size_t l = 0; l < last.leaves.size(); ++l) {
      if (std::abs(slopes[l]) > 20) pulls.push_back(-0.3 * slopes[l] / last.leaves[l] - counts[l]);
    }
    for (const double pull : pulls) EXPECT_NEAR(pull, pulls.front(), 0.5) << count << " trees";
  }
  EXPECT_GT(tried, 3);
}

// One row in forty has all claims: Newton steps would be as long as the ratio is large.
TEST(Forest, LearnsCountsThatLieInFewRows) {
  Rows rows(9, 4000);
  rows.label.loss = Loss::poisson;
  rows.label.power = 1;
  for (std::size_t r = 0; r < rows.data.num_rows; ++r) {
    float* const cells = rows.data.cells.data() + r * rows.data.num_features;
    const bool is_rare = r % 40 == 0;
    cells[5] = is_rare ? 1.0f : 0.0f;
    rows.data.labels[r] = is_rare ? 20 : 0;
  }
  rows.label.offsets = {std::log(0.5)};
  const Forest forest = grown(rows, rows.data, 60, 3, 1);
  EXPECT_GT(forest.trees.size(), 10u);
  for (const Tree& tree : forest.trees) {
    for (const float leaf : tree.leaves) EXPECT_TRUE(std::isfinite(leaf));
  }
}

// What a question gains where others were asked before: two sides of a leaf that would fall along a
// monotone column count as one.
class Gains {
 public:
  Gains(const std::vector<ColumnBins>& columns, const BinnedRows& binned,
        const std::vector<Newton>& newton, double pull)
      : columns_(columns), binned_(binned), newton_(newton), pull_(pull) {}

  double of(std::span<const TreeSplit> earlier, const TreeSplit& split) const {
    struct Side {
      double slope = 0, curvature = 0;
    };
    std::vector<std::array<Side, 2>> leaves(std::size_t{1} << earlier.size());
    for (std::size_t r = 0; r < newton_.size(); ++r) {
      std::size_t leaf = 0;
      for (std::size_t d = 0; d < earlier.size(); ++d) leaf |= answer(earlier[d], r) << d;
      Side& side = leaves[leaf][answer(split, r)];
      side.slope += newton_[r].slope;
      side.curvature += newton_[r].curvature;
    }
    const auto gain = [&](double slope, double curvature) {
      return slope * slope / (curvature + pull_);
    };
    double sum = 0;
    for (const auto& [left, right] : leaves) {
      const bool falls =
          columns_[split.column].monotone &&
          -left.slope / (left.curvature + pull_) > -right.slope / (right.curvature + pull_);
      const double together = gain(left.slope + right.slope, left.curvature + right.curvature);
      sum += falls
                 ? 0
                 : gain(left.slope, left.curvature) + gain(right.slope, right.curvature) - together;
    }
    return sum;
  }

 private:
  std::size_t answer(const TreeSplit& split, std::size_t row) const {
    return split.right[binned_.column(split.column)[row]];
  }

  const std::vector<ColumnBins>& columns_;
  const BinnedRows& binned_;
  const std::vector<Newton>& newton_;
  double pull_;
};

// Every question that there is about a number.
std::vector<TreeSplit> all_questions(const std::vector<ColumnBins>& columns, std::size_t index) {
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

// At each level the best question of all, found by trying every one.
TEST(Tree, AsksWhatLowersTheLossMost) {
  for (const std::uint64_t seed : {8, 9, 10}) {
    const Rows rows(seed, 500);
    ThreadPool pool(1);
    const std::vector<ColumnBins> columns = fit_bins(rows.wires, rows.data, pool);
    const BinnedRows binned(columns, rows.data, pool);
    std::vector<Newton> newton;
    for (const double y : rows.data.labels)
      newton.push_back({static_cast<std::int32_t>(-1000 * y), 1000});
    const std::vector<std::size_t> asked = {0, 1, 2, 5};  // numbers
    const Growth growth{.depth = 4, .rate = 1, .pull = 2000};
    const Tree tree = TreeGrower(columns, binned, pool).grow(newton, asked, growth);
    const Gains gains(columns, binned, newton, growth.pull);
    ASSERT_EQ(tree.splits.size(), 4u);
    for (std::size_t d = 0; d < tree.splits.size(); ++d) {
      const auto earlier = std::span(tree.splits).first(d);
      double most = 0;
      for (const std::size_t c : asked) {
        for (const TreeSplit& split : all_questions(columns, c))
          most = std::max(most, gains.of(earlier, split));
      }
      EXPECT_NEAR(gains.of(earlier, tree.splits[d]), most, 1e-6 * most) << "level " << d;
    }
  }
}

}  // namespace
}  // namespace espalier
