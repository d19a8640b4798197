// SPDX-License-Identifier: Apache-2.0
#include "boost/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/random.h"

namespace espalier {
namespace {

// Leaf after leaf, some of which all rows or none leave, as std::stable_partition does it.
TEST(RowPartition, KeepsTheOrderOfBothSidesForAnyNumberOfThreads) {
  for (const int threads : {1, 2, 3, 7, 16}) {
    for (const std::size_t count : {1, 100, 30'000, 70'001}) {
      Random random(count);
      ThreadPool pool(threads);
      RowPartition partition(count, pool);
      for (int round = 0; round < 2; ++round) {
        partition.reset();
        std::vector<std::uint32_t> expected(count);
        std::iota(expected.begin(), expected.end(), 0u);
        std::vector<std::size_t> ends = {0, count};
        for (int split = 0; split < 12; ++split) {
          std::vector<std::uint8_t> bins(count);
          for (std::uint8_t& bin : bins) bin = static_cast<std::uint8_t>(random.below(256));
          GoesRight goes_right{};
          const std::size_t share = random.below(5);
          for (std::uint8_t& goes : goes_right) goes = random.below(4) < share ? 1 : 0;
          const std::size_t leaf = random.below(ends.size() - 1);
          const std::size_t begin = ends[leaf], end = ends[leaf + 1];
          const auto middle =
              std::stable_partition(expected.begin() + static_cast<std::ptrdiff_t>(begin),
                                    expected.begin() + static_cast<std::ptrdiff_t>(end),
                                    [&](std::uint32_t row) { return goes_right[bins[row]] == 0; });
          const auto at = static_cast<std::size_t>(middle - expected.begin());
          ASSERT_EQ(partition.divide(begin, end, bins.data(), goes_right), at);
          ends.insert(ends.begin() + static_cast<std::ptrdiff_t>(leaf) + 1, at);
          ASSERT_TRUE(std::ranges::equal(partition.rows(0, count), expected));
        }
      }
    }
  }
}

}  // namespace
}  // namespace espalier
