// SPDX-License-Identifier: Apache-2.0
#include "train/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace espalier {
namespace {

void expect_every_row_once(std::size_t rows, std::size_t many_rows) {
  const Dataset data{.num_rows = rows};
  Batches batches(data, 16, Random(1), many_rows);
  EXPECT_EQ(batches.steps_per_epoch(), static_cast<std::int64_t>((rows + 15) / 16));
  for (int epoch = 0; epoch < 3; ++epoch) {
    batches.next_epoch();
    std::multiset<std::uint32_t> seen;
    for (std::int64_t step = 0; step < batches.steps_per_epoch(); ++step) {
      EXPECT_EQ(batches.rows_before(step), static_cast<std::int64_t>(seen.size()));
      const Batch batch = batches.batch(step);
      EXPECT_EQ(batch.data, &data);
      EXPECT_EQ(batch.rows.size(), std::min<std::size_t>(16, rows - seen.size()));
      seen.insert(batch.rows.begin(), batch.rows.end());
    }
    EXPECT_EQ(seen.size(), rows);
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), rows);
    EXPECT_LT(*seen.rbegin(), rows);
  }
}

TEST(Batches, AnEpochHasEveryRowOnceInFullBatchesButTheLast) {
  for (const std::size_t rows : {1u, 7u, 32u, 33u, 100u, 5000u}) {
    for (const std::size_t many_rows :
         {std::size_t{1}, std::size_t{30}, std::size_t{4100}, kManyRows})
      expect_every_row_once(rows, many_rows);
  }
}

// A window of a quarter of many rows has whole blocks of neighbours, four rows each here.
TEST(Batches, ManyRowsComeFromAFewPlacesAtATime) {
  constexpr std::size_t kMany = 4096, kBlock = 4, kWindow = 1024;
  const Dataset data{.num_rows = 2 * kMany};
  Batches batches(data, kWindow, Random(1), kMany);
  std::set<Rows> orders;
  for (int epoch = 0; epoch < 3; ++epoch) {
    batches.next_epoch();
    for (std::int64_t step = 0; step < batches.steps_per_epoch(); ++step) {
      const auto rows = batches.batch(step).rows;
      std::set<std::size_t> blocks;
      for (const std::uint32_t row : rows) blocks.insert(row / kBlock);
      EXPECT_EQ(blocks.size(), kWindow / kBlock);
      std::size_t neighbours = 0;
      for (std::size_t i = 1; i < rows.size(); ++i)
        neighbours += rows[i] == rows[i - 1] + 1 ? 1 : 0;
      EXPECT_LT(neighbours, kWindow / 16);
      orders.insert(Rows(rows.begin(), rows.end()));
    }
  }
  EXPECT_EQ(orders.size(), 24u);
}

TEST(Batches, TheOrderFollowsFromTheSeedAndTheEpoch) {
  const Dataset data{.num_rows = 50};
  Batches a(data, 50, Random(1)), b(data, 50, Random(1));
  std::set<Rows> orders;
  for (int epoch = 0; epoch < 4; ++epoch) {
    a.next_epoch();
    b.next_epoch();
    const auto rows = a.batch(0).rows, same = b.batch(0).rows;
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(), same.begin(), same.end()));
    orders.insert(Rows(rows.begin(), rows.end()));
  }
  EXPECT_EQ(orders.size(), 4u);
}

}  // namespace
}  // namespace espalier
