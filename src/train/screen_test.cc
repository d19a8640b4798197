// SPDX-License-Identifier: Apache-2.0
#include "train/screen.h"

#include <gtest/gtest.h>

#include <numeric>

namespace espalier {
namespace {

constexpr std::size_t kScreenedRows = 4000;
constexpr double kShrinkage = 5;

std::vector<std::uint32_t> each_alone(std::size_t num_rows) {
  std::vector<std::uint32_t> groups(num_rows);
  std::iota(groups.begin(), groups.end(), 0u);
  return groups;
}

Cells random_cells(std::size_t num_rows, Random& random) {
  Cells cells{.of_row = {}, .count = 2 * (1 + random.below(5))};  // even: a board has no margins
  for (std::size_t r = 0; r < num_rows; ++r)
    cells.of_row.push_back(static_cast<std::uint16_t>(random.below(cells.count)));
  return cells;
}

// Gradients and hessians of a weighted squared error: noise, and `planted` times a checkerboard.
std::vector<ScreenRow> board_rows(double planted, const Cells& a, const Cells& b, Random& random) {
  std::vector<ScreenRow> rows;
  for (std::size_t r = 0; r < kScreenedRows; ++r) {
    const double sign = (a.of_row[r] + b.of_row[r]) % 2 == 0 ? 1 : -1;
    const double weight = 0.5 + random.uniform();
    rows.push_back({static_cast<float>(weight * (random.normal() + planted * sign)),
                    static_cast<float>(weight)});
  }
  return rows;
}

TEST(CrossFit, FindsThePlantedTableAndNoOther) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Cells a = random_cells(kScreenedRows, random), b = random_cells(kScreenedRows, random);
    const Cells other = random_cells(kScreenedRows, random);
    const std::vector<ScreenRow> rows = board_rows(0.5, a, b, random);
    const CrossFit tables(each_alone(kScreenedRows), 2, kShrinkage, Random(seed));
    const Gain found = tables.gain(rows, cross(a, b));
    EXPECT_GT(found.mean, 4 * found.error);
    EXPECT_NEAR(found.mean, 0.125, 0.06) << "half the variance that the board explains";
    for (const Cells& wrong : {a, b, cross(a, other), cross(b, other)}) {
      const Gain none = tables.gain(rows, wrong);
      EXPECT_LT(none.mean, 4 * none.error);
    }
  }
}

TEST(CrossFit, MorePartsFitBetterTables) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Cells a = random_cells(kScreenedRows, random), b = random_cells(kScreenedRows, random);
    const std::vector<ScreenRow> rows = board_rows(1, a, b, random);
    const std::vector<std::uint32_t> groups = each_alone(kScreenedRows);
    const double halves = CrossFit(groups, 2, kShrinkage, Random(1)).gain(rows, cross(a, b)).mean;
    const double tenths = CrossFit(groups, 10, kShrinkage, Random(1)).gain(rows, cross(a, b)).mean;
    EXPECT_GE(tenths, 0.99 * halves);
    EXPECT_LT(tenths, 0.6) << "half the variance that the board explains, and noise";
  }
}

TEST(CrossFit, NoiseGainsNothing) {
  int clear = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const Cells a = random_cells(kScreenedRows, random), b = random_cells(kScreenedRows, random);
    const std::vector<ScreenRow> rows = board_rows(0, a, b, random);
    for (const std::size_t parts : {2u, 10u}) {
      const Gain gain = CrossFit(each_alone(kScreenedRows), parts, kShrinkage, Random(seed))
                            .gain(rows, cross(a, b));
      clear += gain.mean > 3 * gain.error ? 1 : 0;
    }
  }
  EXPECT_LE(clear, 2) << "of 400";
}

TEST(CrossFit, AnAddedTableLeavesLittleToGain) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Cells a = random_cells(kScreenedRows, random), b = random_cells(kScreenedRows, random);
    std::vector<ScreenRow> rows = board_rows(1, a, b, random);
    const CrossFit tables(each_alone(kScreenedRows), 2, kShrinkage, Random(seed));
    const double before = tables.gain(rows, cross(a, b)).mean;
    tables.add_table(cross(a, b), rows);
    EXPECT_LT(tables.gain(rows, cross(a, b)).mean, 0.25 * before);
  }
}

// Every row is there twice and has a cell of its own: a row predicts its twin, and nothing else.
TEST(CrossFit, RowsOfAGroupDoNotPredictEachOther) {
  Random random(1);
  Cells cells{.of_row = {}, .count = kScreenedRows / 2};
  std::vector<ScreenRow> rows;
  std::vector<std::uint32_t> pairs;
  for (std::size_t r = 0; r < kScreenedRows; ++r) {
    const std::size_t twin = r / 2;
    rows.push_back(r % 2 == 1 ? rows.back() : ScreenRow{static_cast<float>(random.normal()), 1});
    cells.of_row.push_back(static_cast<std::uint16_t>(twin));
    pairs.push_back(static_cast<std::uint32_t>(twin));
  }
  const Gain alone =
      CrossFit(each_alone(kScreenedRows), 2, kShrinkage, Random(1)).gain(rows, cells);
  EXPECT_GT(alone.mean, 10 * alone.error);
  EXPECT_EQ(CrossFit(pairs, 2, kShrinkage, Random(1)).gain(rows, cells).mean, 0);
}

TEST(CrossFit, RowsWithoutHessianOrWeightGainNothing) {
  Random random(1);
  const Cells cells = random_cells(kScreenedRows, random);
  std::vector<ScreenRow> rows(kScreenedRows);
  const CrossFit tables(each_alone(kScreenedRows), 2, kShrinkage, Random(1));
  EXPECT_EQ(tables.gain(rows, cells).mean, 0);
  tables.add_table(cells, rows);
  EXPECT_EQ(rows.front().gradient, 0);
}

}  // namespace
}  // namespace espalier
