// SPDX-License-Identifier: Apache-2.0
#include "boost/forest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <span>
#include <vector>

#include "model/model_data.h"
#include "model/model_file.h"
#include "support/effort.h"
#include "support/reference_forest.h"
#include "support/synthetic_rows.h"

namespace espalier {
namespace {

void add_tree(const Tree& tree, const BinnedRows& bins, std::span<float> sums) {
  for (std::size_t begin = 0; begin < sums.size(); begin += kMaxRowsAtOnce)
    add_values(tree, bins, begin,
               sums.subspan(begin, std::min(kMaxRowsAtOnce, sums.size() - begin)));
}

Forest grown(const SyntheticRows& rows, const Dataset& valid, int trees, int leaves, int threads) {
  const Objective objective(rows.label, rows.data);
  ThreadPool pool(threads);
  return grow_forest({.objective = &objective,
                      .wires = std::span(rows.wires).first(rows.data.num_features),
                      .level_wire = rows.wires.size() - 1,
                      .train = &rows.data,
                      .valid = &valid,
                      .plan = {.trees = trees, .leaves = leaves, .rate = 0.3},
                      .random = Random(5),
                      .pool = &pool,
                      .goes_on = [](std::span<const Tree>) { return true; }});
}

double mean_square(const SyntheticRows& rows, const std::vector<float>& outputs) {
  double sum = 0;
  for (std::size_t r = 0; r < rows.data.num_rows; ++r)
    sum += (rows.data.labels[r] - outputs[r]) * (rows.data.labels[r] - outputs[r]);
  return sum / static_cast<double>(rows.data.num_rows);
}

const Dataset kNoRows;
constexpr Loss kAllLosses[] = {Loss::squared_error, Loss::absolute_error, Loss::quantile,
                               Loss::log_loss,      Loss::poisson,        Loss::gamma,
                               Loss::tweedie};

void expect_equal(const Forest& forest, const Forest& expected) {
  ASSERT_EQ(forest.trees.size(), expected.trees.size());
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    const Tree &own = forest.trees[t], &other = expected.trees[t];
    ASSERT_EQ(own.splits, other.splits) << "tree " << t;
    ASSERT_EQ(own.next, other.next) << "tree " << t;
    ASSERT_EQ(own.values, other.values) << "tree " << t;
  }
}

struct RandomForest {
  explicit RandomForest(std::uint64_t seed)
      : random(seed),
        rows(seed, 1 + random.below(800), kAllLosses[seed % std::size(kAllLosses)]),
        valid(seed + 1000, random.below(3) == 0 ? 0 : 1 + random.below(600), rows.label.loss) {
    if (random.below(2) == 0) {
      rows.complicate(random);
      valid.complicate(random);
    }
    plan = {.trees = static_cast<int>(3 + random.below(10)),
            .leaves = static_cast<int>(1 + random.below(40)),
            .rate = 0.05 + 0.4 * random.uniform()};
  }

  template <class Grow>
  Forest grow(int threads, const Grow& grow) const {
    const Objective objective(rows.label, rows.data);
    ThreadPool pool(threads);
    return grow({.objective = &objective,
                 .wires = std::span(rows.wires).first(rows.data.num_features),
                 .level_wire = rows.wires.size() - 1,
                 .train = &rows.data,
                 .valid = &valid.data,
                 .plan = plan,
                 .random = Random(5),
                 .pool = &pool,
                 .goes_on = [](std::span<const Tree>) { return true; }});
  }

  Random random;
  SyntheticRows rows, valid;
  ForestPlan plan;
};

TEST(Forest, IsTheOneThatIsGrownPlainly) {
  std::size_t trees = 0;
  for (std::uint64_t seed = 1; seed <= effort<std::uint64_t>(35, 14); ++seed) {
    SCOPED_TRACE(seed);
    const RandomForest problem(seed);
    const Forest expected =
        problem.grow(1, [](const ForestInput& input) { return ReferenceForest(input).grow(); });
    expect_equal(problem.grow(static_cast<int>(1 + seed % 3), grow_forest), expected);
    trees += expected.trees.size();
  }
  EXPECT_GT(trees, 20u);
}

// Stops before a tree and goes on from the bytes of the trees so far, again and again.
TEST(Forest, IsTheSameAfterAnyNumberOfStops) {
  std::size_t stops = 0;
  for (std::uint64_t seed = 1; stops < effort<std::size_t>(200, 60); ++seed) {
    SCOPED_TRACE(seed);
    RandomForest problem(seed);
    problem.plan.trees = 40;
    Random random(seed + 99);
    std::size_t grown = 0;
    const Forest expected = problem.grow(1, [&](ForestInput input) {
      input.goes_on = [&](std::span<const Tree> trees) { return grown = trees.size(), true; };
      return grow_forest(input);
    });
    std::vector<Tree> start;
    std::size_t calls = 0, most = 0;
    for (bool stopped = true; stopped;) {
      stopped = false;
      const std::size_t until = start.size() + random.below(8);
      std::string state;
      const Forest forest = problem.grow(static_cast<int>(1 + stops % 3), [&](ForestInput input) {
        input.start = start;
        input.goes_on = [&](std::span<const Tree> trees) {
          most = std::max(most, trees.size());
          stopped = trees.size() >= until;
          calls += stopped ? 0 : 1;
          if (stopped) put_trees(state, trees);
          return !stopped;
        };
        return grow_forest(input);
      });
      if (!stopped) {
        expect_equal(forest, expected);
        break;
      }
      ++stops;
      const std::string place = "state";
      Reader reader(state, place, "state");
      start = read_trees(reader);
      EXPECT_EQ(reader.left(), 0u);
    }
    EXPECT_EQ(most, grown);
    EXPECT_LE(calls, grown + 1);  // no tree is grown twice
  }
}

TEST(Forest, RefusesToGoOnFromTreesOfOtherColumns) {
  const SyntheticRows rows(6, 400);
  const Forest forest = grown(rows, kNoRows, 5, 12, 1);
  const auto change = [&](const std::function<void(Tree&)>& damage) {
    Forest changed = forest;
    EXPECT_TRUE(fits(changed.trees[2], forest.columns));
    damage(changed.trees[2]);
    EXPECT_FALSE(fits(changed.trees[2], forest.columns));
  };
  change([](Tree& tree) { tree.splits[1].column = 99; });
  change([](Tree& tree) { tree.splits[1].right.push_back(0); });
  change([](Tree& tree) { tree.splits[1].right[0] = 2; });
  change([](Tree& tree) { tree.values.pop_back(); });
  change([](Tree& tree) { tree.next.pop_back(); });
  change([](Tree& tree) { tree.next[0][0] = 0; });
  change([](Tree& tree) { std::swap(tree.next[0][0], tree.next[0][1]); });
  change([](Tree& tree) { tree.next.back()[1] = 99; });
}

// So many rows that they are divided among the threads.
TEST(Forest, IsTheSameForAnyNumberOfThreads) {
  for (const Loss loss : kAllLosses) {
    const SyntheticRows rows(4, effort(40'000, 20'000), loss);
    const Forest expected = grown(rows, rows.data, 4, 16, 1);
    EXPECT_EQ(expected.trees.size(), 4u);
    for (const int threads : {2, 3, 7, 16}) {
      SCOPED_TRACE(threads);
      expect_equal(grown(rows, rows.data, 4, 16, threads), expected);
    }
  }
}

// Levels at first lie together, and come apart in the order of their positions.
TEST(Forest, PutsQuantilesWhereTheirSharesOfLabelsLieBelow) {
  const SyntheticRows rows(8, 3000, Loss::quantile);
  const Forest forest = grown(rows, kNoRows, 60, 24, 1);
  ThreadPool pool(1);
  const BinnedRows binned(forest.columns, rows.data, rows.label, pool);
  std::vector<float> sums(binned.num_rows());
  for (const Tree& tree : forest.trees) add_tree(tree, binned, sums);
  const std::vector<double>& quantiles = rows.label.quantiles;
  std::vector<double> below(quantiles.size());
  for (std::size_t r = 0; r < rows.data.num_rows; ++r) {
    for (std::size_t q = 0; q < below.size(); ++q) {
      below[q] += rows.data.labels[r] <= sums[r * below.size() + q] ? 1 : 0;
      if (q > 0) {
        EXPECT_GE(sums[r * below.size() + q], sums[r * below.size() + q - 1]);
      }
    }
  }
  for (std::size_t q = 0; q < below.size(); ++q)
    EXPECT_NEAR(below[q] / static_cast<double>(rows.data.num_rows), quantiles[q], 0.04);
}

std::vector<float> sums_of(const Forest& forest, const Dataset& data) {
  ThreadPool pool(1);
  const BinnedRows binned(forest.columns, data, Label(), pool);
  std::vector<float> sums(data.num_rows);
  for (const Tree& tree : forest.trees) add_tree(tree, binned, sums);
  return sums;
}

bool asks_monotone_column(const Forest& forest, const Tree& tree) {
  return std::ranges::any_of(
      tree.splits, [&](const TreeSplit& split) { return forest.columns[split.column].monotone; });
}

TEST(Forest, EndsWhereTheLossOfTheValidationRowsIsLeast) {
  const SyntheticRows rows(6, 400), valid(7, 400);
  const Forest best = grown(rows, valid.data, 200, 30, 1);
  const int end = static_cast<int>(best.trees.size());
  const double least = mean_square(valid, sums_of(best, valid.data));
  ASSERT_GT(end, 5);
  ASSERT_LT(end, 150);
  for (const int more : {-5, -1, 1, 2, 10, 49}) {
    const Forest other = grown(rows, kNoRows, end + more, 30, 1);
    EXPECT_LE(least, mean_square(valid, sums_of(other, valid.data))) << more;
  }
}

// So where a forest ends does not matter to what it was when it ended.
TEST(Forest, ThatEndedIsTheForestOfSoManyTrees) {
  const SyntheticRows rows(6, 400), valid(7, 400);
  const Forest ended = grown(rows, valid.data, 200, 30, 1);
  const Forest other = grown(rows, kNoRows, static_cast<int>(ended.trees.size()), 30, 1);
  for (std::size_t t = 0; t < ended.trees.size(); ++t) {
    EXPECT_EQ(ended.trees[t].splits, other.trees[t].splits);
    EXPECT_EQ(ended.trees[t].values, other.trees[t].values);
  }
}

// Wherever the row stands, in whichever task: before finite ones, and after them.
TEST(Forest, HasNoTreesWhereASlopeIsNoNumber) {
  for (const std::size_t row : {0, 5, 8191, 8192, 17'000, 19'999}) {
    SyntheticRows rows(3, 20'000);
    rows.data.labels[row] = std::nan("");
    EXPECT_TRUE(grown(rows, kNoRows, 3, 4, 2).trees.empty()) << row;
  }
}

TEST(Forest, FadesTheTreesThatAskForMonotoneColumnsAndNoOthers) {
  const SyntheticRows rows(3, 500);
  const Forest before = grown(rows, kNoRows, 30, 4, 1), after = grown(rows, kNoRows, 40, 4, 1);
  int faded = 0, steady = 0;
  for (std::size_t t = 0; t < before.trees.size(); ++t) {
    const Tree &early = before.trees[t], &late = after.trees[t];
    ASSERT_EQ(early.splits, late.splits);
    const bool asks = asks_monotone_column(before, early);
    ++(asks ? faded : steady);
    const double kept = asks ? std::pow(1 - 0.02 * 0.3, 10) : 1;
    for (std::size_t l = 0; l < early.values.size(); ++l)
      EXPECT_NEAR(late.values[l], kept * early.values[l], 1e-6 * std::abs(early.values[l]));
  }
  EXPECT_GT(faded, 3);
  EXPECT_GT(steady, 3);
}

// The last tree of a forest has faded by nothing: its leaves are -rate * G / (n + pull), where G
// are the slopes that the trees before it leave as they are in this forest. All leaves share one
// pull.
TEST(Forest, EachTreeStepsFromTheSumOfThoseBeforeIt) {
  const SyntheticRows rows(3, 2000);
  int tried = 0;
  for (int count = 20; count < 45; ++count) {
    Forest forest = grown(rows, kNoRows, count, 4, 1);
    const Tree last = std::move(forest.trees.back());
    forest.trees.pop_back();
    if (asks_monotone_column(forest, last)) continue;  // its leaves are projected
    ++tried;
    const std::vector<float> sums = sums_of(forest, rows.data);
    ThreadPool pool(1);
    const BinnedRows binned(forest.columns, rows.data, rows.label, pool);
    struct Leaf {
      double slope = 0, count = 0;
    };
    std::map<float, Leaf> leaves;  // by value
    for (std::size_t r = 0; r < sums.size(); ++r) {
      Leaf& leaf = leaves[last.values[last.leaf(binned, r)]];
      leaf.slope += sums[r] - rows.data.labels[r];
      ++leaf.count;
    }
    std::vector<double> pulls;
    for (const auto& [value, leaf] : leaves) {
      if (std::abs(leaf.slope) > 20) pulls.push_back(-0.3 * leaf.slope / value - leaf.count);
    }
    for (const double pull : pulls) EXPECT_NEAR(pull, pulls.front(), 0.5) << count << " trees";
  }
  EXPECT_GT(tried, 3);
}

// One row in forty has all claims: Newton steps would be as long as the ratio is large.
TEST(Forest, LearnsCountsThatLieInFewRows) {
  SyntheticRows rows(9, 4000);
  rows.label.loss = Loss::poisson;
  rows.label.power = 1;
  for (std::size_t r = 0; r < rows.data.num_rows; ++r) {
    float* const cells = rows.data.cells.data() + r * rows.data.num_features;
    const bool is_rare = r % 40 == 0;
    cells[5] = is_rare ? 1.0f : 0.0f;
    rows.data.labels[r] = is_rare ? 20 : 0;
  }
  rows.label.offsets = {std::log(0.5)};
  const Forest forest = grown(rows, rows.data, 60, 8, 1);
  EXPECT_GT(forest.trees.size(), 10u);
  for (const Tree& tree : forest.trees) {
    for (const float leaf : tree.values) EXPECT_TRUE(std::isfinite(leaf));
  }
}

}  // namespace
}  // namespace espalier
