// SPDX-License-Identifier: Apache-2.0
#include "objective/link.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace espalier {
namespace {

// Walks the floats of [first, last] and expects that the sigmoid never falls.
void expect_sigmoid_rises(float first, float last) {
  const bool negative = first < 0;
  float before = sigmoid(first);
  for (auto z = std::bit_cast<std::uint32_t>(first); z != std::bit_cast<std::uint32_t>(last);) {
    z += negative ? -1 : 1;
    const float after = sigmoid(std::bit_cast<float>(z));
    ASSERT_GE(after, before) << "at " << std::bit_cast<float>(z);
    before = after;
  }
}

TEST(Sigmoid, NeverFallsOnAMillionNeighboursInEachBinade) {
#ifdef ESPALIER_SANITIZED
  constexpr std::uint32_t kSteps = 1000;
#else
  constexpr std::uint32_t kSteps = 1'000'000;
#endif
  for (int exponent = -30; exponent < 7; ++exponent) {
    const float start = std::ldexp(1.0f, exponent);
    const float end = std::bit_cast<float>(std::bit_cast<std::uint32_t>(start) + kSteps);
    expect_sigmoid_rises(start, end);
    expect_sigmoid_rises(-end, -start);
  }
}

// All floats of [-128, 128] but the subnormal ones: more than two thousand million.
TEST(LongSigmoid, NeverFallsOnAnyFloat) {
  expect_sigmoid_rises(-128.0f, -std::numeric_limits<float>::min());
  expect_sigmoid_rises(std::numeric_limits<float>::min(), 128.0f);
  EXPECT_EQ(sigmoid(-std::numeric_limits<float>::min()), 0.5f);
  EXPECT_EQ(sigmoid(std::numeric_limits<float>::min()), 0.5f);
  EXPECT_EQ(sigmoid(128.0f), 1.0f);
  EXPECT_EQ(sigmoid(-128.0f), 0.0f);
}

}  // namespace
}  // namespace espalier
