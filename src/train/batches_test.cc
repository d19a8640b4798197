// SPDX-License-Identifier: Apache-2.0
#include "train/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "layers/tile.h"
#include "train/adam.h"

namespace espalier {
namespace {

Batches all_of(const Dataset& data, int batch_size, std::size_t many_rows = kManyRows) {
  return Batches(data, batch_size, {0, num_shards_of(batch_size)}, Random(1), many_rows);
}

void expect_every_row_once(std::size_t rows, std::size_t size, std::size_t many_rows) {
  const Dataset data{.num_rows = rows};
  Batches batches = all_of(data, static_cast<int>(size), many_rows);
  EXPECT_EQ(batches.steps_per_epoch(), static_cast<std::int64_t>((rows + size - 1) / size));
  for (int epoch = 0; epoch < 3; ++epoch) {
    batches.next_epoch();
    std::multiset<std::uint64_t> seen;
    for (std::int64_t step = 0; step < batches.steps_per_epoch(); ++step) {
      EXPECT_EQ(batches.rows_before(step), static_cast<std::int64_t>(seen.size()));
      const Batch batch = batches.batch(step);
      EXPECT_EQ(batch.data, &data);
      EXPECT_EQ(batch.rows.size(), std::min<std::size_t>(size, rows - seen.size()));
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
      for (const std::size_t size : {1u, 16u, 200u, 500u, 1000u})
        expect_every_row_once(rows, size, many_rows);
  }
}

// Neighbours whose order is theirs, and stretches of neighbours among some rows.
std::size_t pairs_in_order(const std::vector<std::uint64_t>& rows) {
  std::size_t pairs = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) pairs += rows[i] == rows[i - 1] + 1 ? 1 : 0;
  return pairs;
}
std::size_t stretches(std::vector<std::uint64_t> rows) {
  std::ranges::sort(rows);
  return rows.size() - pairs_in_order(rows);
}

// Windows of a quarter of many rows have blocks of neighbours, four rows each here.
TEST(Batches, ManyRowsComeFromAFewPlacesAtATime) {
  constexpr std::size_t kMany = 4096, kBlock = 4, kWindow = 1024;
  const Dataset data{.num_rows = 2 * kMany};
  Batches batches = all_of(data, kWindow, kMany);
  std::set<std::vector<std::uint64_t>> orders;
  for (int epoch = 0; epoch < 3; ++epoch) {
    batches.next_epoch();
    for (std::int64_t step = 0; step < batches.steps_per_epoch(); ++step) {
      const auto rows = batches.batch(step).rows;
      EXPECT_LE(stretches(rows), kWindow / kBlock + kMaxShards);  // a block may go round the end
      EXPECT_GE(stretches(rows), kWindow / kBlock / 2);
      EXPECT_LT(pairs_in_order(rows), kWindow / 16);
      orders.insert(rows);
    }
  }
  EXPECT_EQ(orders.size(), 24u);
}

TEST(Batches, OfManyRowsAShardHasAPartForItself) {
  for (const int size : {64, 200, 512, 1000}) {
    const Dataset data{.num_rows = 10'000};
    const int num_shards = num_shards_of(size);
    Batches all = all_of(data, size, 4096);
    all.next_epoch();
    for (int first = 0; first < num_shards; ++first) {
      const ShardRange own{first, std::min(first + 2, num_shards)};
      const RowRange part = part_of(own, data.num_rows, size);
      EXPECT_EQ(part.begin, part_of({0, first}, data.num_rows, size).end);
      Batches some(data, size, own, Random(1), 4096);
      some.next_epoch();
      for (const std::int64_t step : {all.steps_per_epoch() - 1, std::int64_t{0}}) {
        const auto wanted = all.batch(step).rows, found = some.batch(step).rows;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          const int shard = static_cast<int>(i) / kTile % num_shards;
          const bool is_own = own.first <= shard && shard < own.last;
          EXPECT_EQ(found[i], is_own ? wanted[i] : 0);
          EXPECT_EQ(part.begin <= wanted[i] && wanted[i] < part.end, is_own);
        }
      }
    }
    EXPECT_EQ(part_of({0, num_shards}, data.num_rows, size).size(), data.num_rows);
  }
}

TEST(Batches, CountRowsInSixtyFourBits) {
  const Dataset data{.num_rows = (std::size_t{1} << 33) + 12'345};
  Batches batches = all_of(data, 4096);
  batches.next_epoch();
  std::set<std::uint64_t> seen;
  const std::int64_t last = batches.steps_per_epoch() - 1;
  for (const std::int64_t step : {std::int64_t{0}, last / 2, last - 1}) {
    const auto rows = batches.batch(step).rows;
    EXPECT_EQ(rows.size(), 4096u);
    seen.insert(rows.begin(), rows.end());
  }
  EXPECT_EQ(batches.batch(last).rows.size(), 12'345u % 4096);
  EXPECT_EQ(seen.size(), 3 * 4096u);
  EXPECT_LT(*seen.rbegin(), data.num_rows);
  const auto large = std::ranges::count_if(seen, [](std::uint64_t row) { return row >> 32 != 0; });
  EXPECT_EQ(large, 3 * 2048);  // of four of the eight shards
}

TEST(Batches, TheOrderFollowsFromTheSeedAndTheEpoch) {
  const Dataset data{.num_rows = 50};
  Batches a = all_of(data, 50), b = all_of(data, 50);
  std::set<std::vector<std::uint64_t>> orders;
  for (int epoch = 0; epoch < 4; ++epoch) {
    a.next_epoch();
    b.next_epoch();
    const auto rows = a.batch(0).rows, same = b.batch(0).rows;
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(), same.begin(), same.end()));
    orders.insert(rows);
  }
  EXPECT_EQ(orders.size(), 4u);
}

}  // namespace
}  // namespace espalier
