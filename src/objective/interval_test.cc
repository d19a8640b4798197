// SPDX-License-Identifier: Apache-2.0
#include "objective/interval.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace espalier {
namespace {

RowCount rows_of(std::size_t count) {
  RowCount rows;
  for (std::size_t i = 0; i < count; ++i) rows.add(1);
  return rows;
}

Interval of_hits(std::size_t hits, std::size_t count) {
  return rate_interval(static_cast<double>(hits) / static_cast<double>(count), rows_of(count));
}

TEST(RateInterval, IsThatOfTextbooks) {
  // Newcombe (1998), Statistics in Medicine 17, 857: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
  EXPECT_NEAR(of_hits(81, 263).low, 0.2553, 5e-5);
  EXPECT_NEAR(of_hits(81, 263).high, 0.3662, 5e-5);
  EXPECT_NEAR(of_hits(15, 148).low, 0.0624, 5e-5);
  EXPECT_NEAR(of_hits(15, 148).high, 0.1605, 5e-5);
  EXPECT_EQ(of_hits(0, 20).low, 0);
  EXPECT_NEAR(of_hits(0, 20).high, 0.1611, 5e-5);
  EXPECT_NEAR(of_hits(1, 29).low, 0.0061, 5e-5);
  EXPECT_NEAR(of_hits(1, 29).high, 0.1718, 5e-5);
}

TEST(RateInterval, HasAWidthAndHoldsTheRateWhateverTheWeights) {
  Random random(1);
  for (int d = 0; d < 500; ++d) {
    const std::size_t count = kFewestRowsOfInterval + random.below(50);
    const double share = random.below(3) == 0 ? 0 : random.uniform();
    const bool are_equal = random.below(2) == 0;
    Mean mean, scaled;
    for (std::size_t i = 0; i < count; ++i) {
      const double hit = random.uniform() < share ? 1 : 0;
      const double weight = are_equal ? 1 : 0.01 + random.uniform();
      mean.add(hit, weight);
      mean.add(1, 0);  // counts for nothing
      scaled.add(hit, 64 * weight);
    }
    const Interval own = mean.interval(MeanOf::rates);
    ASSERT_LT(own.low, own.high);
    ASSERT_GE(own.low, 0);
    ASSERT_LE(own.high, 1);
    ASSERT_LE(own.low, mean.value());
    ASSERT_GE(own.high, mean.value());
    ASSERT_EQ(own.low, scaled.interval(MeanOf::rates).low);
    ASSERT_EQ(own.high, scaled.interval(MeanOf::rates).high);
  }
}

TEST(RateInterval, HoldsTheTrueRateInAbout95OfAHundredSamples) {
  for (const std::size_t count : {20u, 50u, 200u}) {
    double sum = 0, least = 1;
    int rates = 0;
    for (double rate = 0.005; rate < 0.5; rate += 0.005, ++rates) {
      double probability = std::pow(1 - rate, count), covered = 0;
      for (std::size_t hits = 0; hits <= count; ++hits) {
        const Interval own = of_hits(hits, count);
        if (own.low <= rate && rate <= own.high) covered += probability;
        const auto k = static_cast<double>(hits), n = static_cast<double>(count);
        probability *= (n - k) / (k + 1) * rate / (1 - rate);
      }
      sum += covered;
      least = std::min(least, covered);
    }
    EXPECT_NEAR(sum / rates, 0.95, 0.01) << count;
    EXPECT_GT(least, 0.82) << count;
  }
}

TEST(MeanInterval, FewerThan20RowsHaveNone) {
  for (const std::size_t count : {0u, 1u, 19u, 20u}) {
    Mean mean;
    for (std::size_t i = 0; i < count; ++i) mean.add(i % 2 == 0 ? 1 : 0, 0.1);
    for (int i = 0; i < 100; ++i) mean.add(1, 0);
    for (const MeanOf what : {MeanOf::rates, MeanOf::numbers}) {
      const Interval own = mean.interval(what);
      EXPECT_EQ(std::isnan(own.low), count < 20);
      EXPECT_EQ(std::isnan(own.high), count < 20);
    }
  }
}

TEST(MeanInterval, OfNumbersIs196StandardErrors) {
  Mean mean, one_hit;
  for (int i = 0; i < 100; ++i) {  // variance 1
    mean.add(i % 2 == 0 ? 1 : -1, 3);
    one_hit.add(i < 99 ? 0 : 1, 1);
  }
  EXPECT_NEAR(mean.interval(MeanOf::numbers).high, 1.96 / std::sqrt(99), 1e-4);
  EXPECT_NEAR(mean.interval(MeanOf::numbers).low, -1.96 / std::sqrt(99), 1e-4);
  EXPECT_EQ(one_hit.interval(MeanOf::numbers).low, 0);
}

// As the claims of a group that has none: their standard error would be 0.
TEST(MeanInterval, EqualNumbersHaveNone) {
  for (const double value : {0.0, 0.1, -3.7}) {
    Mean mean;
    for (int i = 0; i < 50; ++i) mean.add(value, 0.3);
    EXPECT_TRUE(std::isnan(mean.interval(MeanOf::numbers).low)) << value;
  }
}

TEST(MeanInterval, ARowWithNearlyAllTheWeightHasNone) {
  Mean mean;
  mean.add(3, 1e300);
  for (int i = 0; i < 30; ++i) mean.add(i, 1e-300);
  EXPECT_TRUE(std::isnan(mean.interval(MeanOf::numbers).low));
  EXPECT_TRUE(std::isnan(mean.interval(MeanOf::numbers).high));
}

}  // namespace
}  // namespace espalier
