// SPDX-License-Identifier: Apache-2.0
#include "train/crystals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "espalier/table.h"
#include "espalier/train.h"

namespace espalier {
namespace {

bool meet(const std::vector<Group>& groups, int a, int b) {
  return std::any_of(groups.begin(), groups.end(), [&](const Group& group) {
    return std::count(group.begin(), group.end(), a) == 1 &&
           std::count(group.begin(), group.end(), b) == 1;
  });
}

void expect_groups(const std::vector<Group>& groups, int features, std::size_t size) {
  std::set<int> used;
  for (const Group& group : groups) {
    ASSERT_EQ(group.size(), size);
    const std::set<int> members(group.begin(), group.end());
    EXPECT_EQ(members.size(), size) << "a feature twice in a group";
    used.insert(members.begin(), members.end());
  }
  EXPECT_EQ(static_cast<int>(used.size()), features) << "a feature in no group";
}

TEST(CoverPairs, EveryPairOfFeaturesMeets) {
  for (const auto& [features, size] : {std::pair{2, 2}, {5, 2}, {7, 3}, {13, 5}, {30, 7}, {6, 6}}) {
    Random random(1);
    const std::vector<Group> groups = cover_pairs(features, size, random);
    expect_groups(groups, features, static_cast<std::size_t>(size));
    for (int a = 0; a < features; ++a) {
      for (int b = a + 1; b < features; ++b) EXPECT_TRUE(meet(groups, a, b)) << a << " " << b;
    }
    const int at_least = features * (features - 1) / (size * (size - 1));
    EXPECT_GE(static_cast<int>(groups.size()), at_least);
  }
}

// theta = 2 x0 + x0 x1, scaled by its range 3: slopes 2/3 or 1 along 0, 0 or 1/3 along 1.
TEST(Interactions, AreReadOffTheLattice) {
  Interactions interactions(4);
  const float theta[] = {0, 2, 0, 3};
  interactions.add({2, 1}, theta);
  EXPECT_NEAR(interactions.slope(2), (4.0 / 9 + 1) / 2, 1e-12);
  EXPECT_NEAR(interactions.slope(1), (0 + 1.0 / 9) / 2, 1e-12);
  EXPECT_NEAR(interactions.torsion(1, 2), 1.0 / 9, 1e-12);
  EXPECT_EQ(interactions.torsion(1, 2), interactions.torsion(2, 1));
  EXPECT_EQ(interactions.torsion(0, 3), 0);
  EXPECT_NEAR(interactions.importance(2), 6 * interactions.slope(2) + 1.0 / 9, 1e-12);
}

TEST(Interactions, OfAConstantLatticeAreZero) {
  Interactions interactions(2);
  const float theta[] = {7, 7, 7, 7};
  interactions.add({0, 1}, theta);
  EXPECT_EQ(interactions.importance(0), 0);
  expect_groups(crystallize(interactions, 3, 2), 2, 2);
}

TEST(Crystallize, PutsFeaturesTogetherThatInteract) {
  constexpr int kFeatures = 12;
  Interactions interactions(kFeatures);
  const float product[] = {0, 0, 0, 1}, sum[] = {0, 1, 1, 2};
  for (int a = 0; a < kFeatures; ++a) {
    for (int b = a + 1; b < kFeatures; ++b)
      interactions.add({a, b}, a % 6 == b % 6 ? product : sum);
  }
  const std::vector<Group> groups = crystallize(interactions, 6, 2);
  expect_groups(groups, kFeatures, 2);
  for (int a = 0; a < 6; ++a) EXPECT_TRUE(meet(groups, a, a + 6)) << a;
}

TEST(Crystallize, UsesImportantFeaturesMoreOften) {
  Interactions interactions(6);
  const float steep[] = {0, 1, 0, 1}, mixed[] = {0, 1, 0.1f, 1};
  for (int b = 1; b < 6; ++b) interactions.add({0, b}, b == 1 ? mixed : steep);
  const std::vector<Group> groups = crystallize(interactions, 5, 3);
  expect_groups(groups, 6, 3);
  std::vector<int> uses(6);
  for (const Group& group : groups) {
    for (const int feature : group) ++uses[static_cast<std::size_t>(feature)];
  }
  EXPECT_EQ(*std::max_element(uses.begin(), uses.end()), uses[0]);
}

// Twelve features of which six pairs interact and nothing else happens.
Table planted_table(std::uint64_t seed) {
  constexpr std::size_t kRows = 4000;
  Random random(seed);
  Table table{.name = "planted", .num_rows = kRows};
  std::vector<double> label(kRows);
  for (int f = 0; f < 12; ++f) {
    Column column{.name = "x" + std::to_string(f)};
    for (std::size_t r = 0; r < kRows; ++r)
      column.numbers.push_back(static_cast<float>(random.uniform()));
    table.columns.push_back(std::move(column));
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t f = 0; f < 6; ++f) {
      const std::size_t other = 6 + (f + 2) % 6;
      label[r] += 4 * (table.columns[f].numbers[r] - 0.5) * (table.columns[other].numbers[r] - 0.5);
    }
    label[r] += 0.1 * random.normal();
  }
  Column y{.name = "y"};
  for (const double value : label) y.numbers.push_back(static_cast<float>(value));
  table.columns.push_back(std::move(y));
  return table;
}

double valid_error(const Table& table, const std::string& architecture) {
  const TrainResult result =
      train(table, {.label = "y", .task = Task::regression, .architecture = architecture});
  return result.best.front().valid_metric;
}

TEST(Crystals, BeatRandomWiringOfTheSameSizeWhereFeaturesInteract) {
  for (const std::uint64_t seed : {1, 2}) {
    const Table table = planted_table(seed);
    const double searched = valid_error(table, "crystals(6x2)");
    const double drawn = valid_error(table, "gather(6x2) cal(10) lat(6x2) sum");
    EXPECT_LT(searched, 0.3 * drawn) << "seed " << seed;
  }
}

TEST(Crystals, RefuseSizesThatCannotBe) {
  const Table table = planted_table(1);
  const auto message = [&](const std::string& architecture) -> std::string {
    try {
      valid_error(table, architecture);
      return "no error";
    } catch (const std::exception& error) {
      return error.what();
    }
  };
  EXPECT_EQ(message("crystals(5x2)"),
            "architecture: gather(5x2,crystals): wanted lattices of 2 to 12 features with a place "
            "for each of the 12");
  EXPECT_EQ(message("crystals(2x13)").substr(0, 45),
            "architecture: gather(2x13,crystals): wanted l");
  EXPECT_EQ(message("cal(5) gather(6x2,crystals) lat(6x2) sum"),
            "architecture: layer 2, gather(6x2,crystals): groups are searched for by training, and "
            "only where they read the table");
}

}  // namespace
}  // namespace espalier
