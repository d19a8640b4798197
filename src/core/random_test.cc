// SPDX-License-Identifier: Apache-2.0
#include "core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

namespace espalier {
namespace {

// From an independent implementation: a change here changes every model ever trained.
TEST(Random, ReproducesThePublishedGenerator) {
  Random random(1);
  EXPECT_EQ(random.bits(), 0xcfc5d07f6f03c29bu);
  EXPECT_EQ(random.bits(), 0xbf424132963fe08du);
  EXPECT_EQ(random.bits(), 0x19a37d5757aaf520u);
  EXPECT_EQ(random.bits(), 0xbf08119f05cd56d6u);
}

TEST(Random, UniformFillsTheUnitInterval) {
  Random random(2);
  constexpr int kDraws = 1'000'000;
  constexpr int kBins = 100;
  std::vector<int> bins(kBins);
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++bins[static_cast<std::size_t>(u * kBins)];
  }
  double chi_square = 0;
  for (const int count : bins) chi_square += std::pow(count - kDraws / kBins, 2) / (kDraws / kBins);
  EXPECT_LT(chi_square, 160);  // 99 degrees of freedom: above 160 once in 10,000
}

TEST(Random, NormalHasTheMomentsOfTheNormalDistribution) {
  Random random(3);
  constexpr int kDraws = 1'000'000;
  double sum = 0, sum2 = 0, sum4 = 0;
  int within_one = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double z = random.normal();
    sum += z;
    sum2 += z * z;
    sum4 += z * z * z * z;
    within_one += std::fabs(z) < 1;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.004);
  EXPECT_NEAR(sum2 / kDraws, 1, 0.006);
  EXPECT_NEAR(sum4 / kDraws, 3, 0.04);
  EXPECT_NEAR(static_cast<double>(within_one) / kDraws, 0.682689, 0.002);
}

TEST(Random, BelowIsUnbiased) {
  Random random(4);
  for (const std::uint64_t n : {1u, 2u, 3u, 5u, 6u, 64u, 65u}) {
    const int draws = static_cast<int>(10'000 * n);
    std::vector<int> counts(n);
    for (int i = 0; i < draws; ++i) {
      const std::uint64_t value = random.below(n);
      ASSERT_LT(value, n);
      ++counts[value];
    }
    for (const int count : counts) EXPECT_NEAR(count, 10'000, 500) << n;
  }
  const std::uint64_t huge = ~std::uint64_t{0};
  EXPECT_LT(random.below(huge), huge);
}

TEST(Random, ShuffleReachesAllOrdersEquallyOften) {
  Random random(5);
  std::map<std::vector<int>, int> seen;
  for (int i = 0; i < 24'000; ++i) {
    std::vector<int> items = {0, 1, 2, 3};
    random.shuffle(std::span(items));
    ++seen[items];
  }
  EXPECT_EQ(seen.size(), 24u);
  for (const auto& [items, count] : seen) EXPECT_NEAR(count, 1000, 160);
}

TEST(Random, ShuffleTakesEmptyAndSingleSpans) {
  Random random(6);
  std::vector<int> items;
  random.shuffle(std::span(items));
  items = {7};
  random.shuffle(std::span(items));
  EXPECT_EQ(items, std::vector<int>{7});
}

TEST(Random, SplitGivesStreamsThatDifferAndRepeat) {
  const Random parent(7);
  Random a = parent.split(0);
  Random b = parent.split(1);
  Random again = parent.split(0);
  Random other = Random(8).split(0);
  double correlation = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t bits = a.bits();
    EXPECT_EQ(bits, again.bits());
    EXPECT_NE(bits, other.bits());
    correlation += (static_cast<double>(bits >> 11) * 0x1p-53 - 0.5) * (b.uniform() - 0.5) * 12;
  }
  EXPECT_NEAR(correlation / 10'000, 0, 0.04);
}

}  // namespace
}  // namespace espalier
