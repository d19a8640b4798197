// SPDX-License-Identifier: Apache-2.0
#include "train/screen.h"

#include <gtest/gtest.h>

#include <cmath>

namespace espalier {
namespace {

// Residuals of a squared error: noise, and `planted` times a checkerboard of columns 1 and 3.
ScreenRows noisy_rows(double planted, std::uint64_t seed) {
  constexpr std::size_t kRows = 4000, kColumns = 5;
  Random random(seed);
  ScreenRows rows;
  for (std::size_t c = 0; c < kColumns; ++c) {
    rows.num_bins.push_back(2 + random.below(20));
    std::vector<std::uint16_t>& bins = rows.bins.emplace_back();
    for (std::size_t r = 0; r < kRows; ++r)
      bins.push_back(static_cast<std::uint16_t>(random.below(rows.num_bins.back())));
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    const int sign = (rows.bins[1][r] + rows.bins[3][r]) % 2 == 0 ? 1 : -1;
    rows.slopes.push_back(static_cast<float>(random.normal() + planted * sign));
    rows.curvatures.push_back(1);
  }
  return rows;
}

TEST(Screen, FindsThePairThatIsThereAndNoOther) {
  ThreadPool pool(2);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<PairGain> pairs = screen_pairs(noisy_rows(0.5, seed), Random(seed), pool);
    ASSERT_EQ(pairs.size(), 10u);
    EXPECT_EQ(pairs[0].first, 1u);
    EXPECT_EQ(pairs[0].second, 3u);
    EXPECT_GT(pairs[0].gain, 3 * pairs[0].error);
    EXPECT_NEAR(pairs[0].gain, 0.125, 0.08) << "half the variance that the board explains";
    EXPECT_LT(pairs[1].gain, 3 * pairs[1].error);
  }
}

TEST(Screen, NoiseGainsNothing) {
  ThreadPool pool(2);
  int clear = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    for (const PairGain& pair : screen_pairs(noisy_rows(0, seed), Random(seed), pool))
      clear += pair.gain > 3 * pair.error ? 1 : 0;
  }
  EXPECT_LE(clear, 2) << "of 400";
}

TEST(Screen, DoesNotDependOnThreads) {
  const ScreenRows rows = noisy_rows(0.2, 3);
  ThreadPool one(1), four(4);
  const std::vector<PairGain> a = screen_pairs(rows, Random(1), one);
  const std::vector<PairGain> b = screen_pairs(rows, Random(1), four);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].first, b[i].first);
    EXPECT_EQ(a[i].gain, b[i].gain);
  }
}

}  // namespace
}  // namespace espalier
