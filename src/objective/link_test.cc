// SPDX-License-Identifier: Apache-2.0
#include "objective/link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/effort.h"

namespace espalier {
namespace {

// Walks the floats of [first, last] and expects that a link never falls.
void expect_rises(float (*link)(float) noexcept, float first, float last) {
  const bool negative = first < 0;
  float before = link(first);
  for (auto z = std::bit_cast<std::uint32_t>(first); z != std::bit_cast<std::uint32_t>(last);) {
    z += negative ? -1 : 1;
    const float after = link(std::bit_cast<float>(z));
    ASSERT_GE(after, before) << "at " << std::bit_cast<float>(z);
    before = after;
  }
}

TEST(Links, NeverFallOnAMillionNeighboursInEachBinade) {
  constexpr std::uint32_t kSteps = effort(1'000'000, 1000);
  for (int exponent = -30; exponent < 7; ++exponent) {
    const float start = std::ldexp(1.0f, exponent);
    const float end = std::bit_cast<float>(std::bit_cast<std::uint32_t>(start) + kSteps);
    for (const auto link : {sigmoid, exponential}) {
      expect_rises(link, start, end);
      expect_rises(link, -end, -start);
    }
  }
}

// All floats of [-128, 128] but the subnormal ones: more than two thousand million.
TEST(LongSigmoid, NeverFallsOnAnyFloat) {
  expect_rises(sigmoid, -128.0f, -std::numeric_limits<float>::min());
  expect_rises(sigmoid, std::numeric_limits<float>::min(), 128.0f);
  EXPECT_EQ(sigmoid(-std::numeric_limits<float>::min()), 0.5f);
  EXPECT_EQ(sigmoid(std::numeric_limits<float>::min()), 0.5f);
  EXPECT_EQ(sigmoid(128.0f), 1.0f);
  EXPECT_EQ(sigmoid(-128.0f), 0.0f);
}

// All floats of [-128, 128] but the subnormal ones.
TEST(LongExponential, NeverFallsOnAnyFloat) {
  expect_rises(exponential, -128.0f, -std::numeric_limits<float>::min());
  expect_rises(exponential, std::numeric_limits<float>::min(), 128.0f);
  EXPECT_EQ(exponential(-std::numeric_limits<float>::min()), 1.0f);
  EXPECT_EQ(exponential(std::numeric_limits<float>::min()), 1.0f);
  EXPECT_EQ(exponential(128.0f), std::numeric_limits<float>::max());
  EXPECT_EQ(exponential(-128.0f), 0.0f);
}

TEST(Links, TheExponentialSaturatesAndTheProductIsLast) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  for (const float score : {-3.0f, 0.0f, 2.5f, 80.0f, 200.0f}) {
    for (const float exposure : {1e-3f, 1.0f, 7.0f}) {
      float once = score, twice = score;
      apply_link(Link::exponential, 0.25f, exposure, {&once, 1});
      apply_link(Link::exponential, 0.25f, 2 * exposure, {&twice, 1});
      EXPECT_EQ(twice, std::min(2 * once, kLargest));
      EXPECT_LE(once, kLargest);
    }
  }
}

TEST(Links, TheSoftmaxAddsUpHoweverLargeTheScores) {
  for (const float shift : {0.0f, -1e6f, 3e38f}) {
    float scores[] = {shift, shift + 1, shift - 2};
    apply_link(Link::softmax, 1, 1, scores);
    double sum = 0;
    for (const float p : scores) {
      EXPECT_GE(p, 0);
      sum += p;
    }
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

}  // namespace
}  // namespace espalier
