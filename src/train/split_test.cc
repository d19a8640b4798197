// SPDX-License-Identifier: Apache-2.0
#include "train/split.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace espalier {
namespace {

Rows some_rows(std::size_t count) {
  Rows rows;
  for (std::uint64_t i = 0; i < count; ++i) rows.push_back(3 * i + 1);
  return rows;
}

// Every row is in one of the parts, and both are in order.
void expect_parts(const Split& split, const Rows& rows) {
  EXPECT_TRUE(std::ranges::is_sorted(split.train));
  EXPECT_TRUE(std::ranges::is_sorted(split.valid));
  Rows all = split.train;
  all.insert(all.end(), split.valid.begin(), split.valid.end());
  std::ranges::sort(all);
  EXPECT_EQ(all, rows);
}

TEST(Split, HoldsOutAShareOfTheRowsWhicheverItIs) {
  for (const std::size_t count : {0u, 1u, 2u, 99u, 100u}) {
    const Rows rows = some_rows(count);
    for (const double fraction : {0.0, 0.2, 0.5, 0.9}) {
      const Split split = hold_out_share(rows, fraction, Random(1));
      expect_parts(split, rows);
      EXPECT_NEAR(static_cast<double>(split.valid.size()), fraction * static_cast<double>(count),
                  0.5);
    }
  }
  EXPECT_NE(hold_out_share(some_rows(100), 0.2, Random(1)).valid,
            hold_out_share(some_rows(100), 0.2, Random(2)).valid);
}

TEST(Split, ManyRowsAreHeldOutByTheirPlace) {
  const Rows rows = some_rows(2000);
  const Split split = hold_out_share(rows, 0.2, Random(1), 2000);
  expect_parts(split, rows);
  EXPECT_NEAR(static_cast<double>(split.valid.size()), 400, 60);
  // Whatever rows lie between them in the table.
  const Split alone = hold_out_share(rows_between(0, 2000), 0.2, Random(1), 2000);
  ASSERT_EQ(alone.valid.size(), split.valid.size());
  for (std::size_t i = 0; i < alone.valid.size(); ++i)
    EXPECT_EQ(split.valid[i], rows[alone.valid[i]]);
}

TEST(Split, AWindowGoesRoundTheEndOfTheOrder) {
  const Split split = hold_out({5, 4, 3, 2, 1}, 3, 3);
  EXPECT_EQ(split.valid, (Rows{1, 2, 5}));
  EXPECT_EQ(split.train, (Rows{3, 4}));
}

TEST(Split, FoldsHoldOutEveryRowOnceWithAboutTheSameLabels) {
  for (const std::size_t count : {10u, 97u}) {
    for (const std::size_t folds : {2u, 3u, 10u}) {
      const Rows rows = some_rows(count);
      std::vector<double> labels;
      for (std::size_t i = 0; i < count; ++i) labels.push_back(i % 3 == 0 ? 1 : 0);
      Rows held;
      for (const Split& fold : deal_folds(rows, labels, folds, Random(1))) {
        expect_parts(fold, rows);
        held.insert(held.end(), fold.valid.begin(), fold.valid.end());
        double positive = 0;
        for (const std::uint64_t row : fold.valid) positive += labels[(row - 1) / 3];
        const double size = static_cast<double>(fold.valid.size());
        EXPECT_NEAR(size, static_cast<double>(count) / static_cast<double>(folds), 1);
        EXPECT_NEAR(positive, size / 3, 1.1);
      }
      std::ranges::sort(held);
      EXPECT_EQ(held, rows);
    }
  }
}

}  // namespace
}  // namespace espalier
