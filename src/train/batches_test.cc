// SPDX-License-Identifier: Apache-2.0
#include "train/batches.h"

#include <gtest/gtest.h>

#include <set>

namespace espalier {
namespace {

TEST(Batches, AnEpochHasEveryRowOnceInFullBatchesButTheLast) {
  for (const std::size_t rows : {1u, 7u, 32u, 33u, 100u}) {
    const Dataset data{.num_rows = rows};
    Batches batches(data, 16, Random(1));
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
