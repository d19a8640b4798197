// SPDX-License-Identifier: Apache-2.0
#include "objective/link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/math.h"
#include "support/effort.h"

namespace espalier {
namespace {

// Walks the floats of [first, last] and expects that a link never falls.
template <class Value>
void expect_rises(Value (*link)(float) noexcept, float first, float last) {
  const bool negative = first < 0;
  Value before = link(first);
  for (auto z = std::bit_cast<std::uint32_t>(first); z != std::bit_cast<std::uint32_t>(last);) {
    z += negative ? -1 : 1;
    const Value after = link(std::bit_cast<float>(z));
    ASSERT_GE(after, before) << "at " << std::bit_cast<float>(z);
    before = after;
  }
}

TEST(Links, NeverFallOnNeighborsInEachBinade) {
  const std::uint32_t kSteps = effort(250'000, 1000);
  for (int exponent = -30; exponent < 7; ++exponent) {
    const float start = std::ldexp(1.0f, exponent);
    const float end = std::bit_cast<float>(std::bit_cast<std::uint32_t>(start) + kSteps);
    for (const auto link : {sigmoid, exponential}) {
      expect_rises(link, start, end);
      expect_rises(link, -end, -start);
    }
    constexpr auto power = [](float x) noexcept { return portable_exp(x); };
    expect_rises(+power, start, end);
    expect_rises(+power, -end, -start);
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

// Floats of every sign and size, sorted, the infinities among them.
std::vector<float> floats_of_all_sizes() {
  std::vector<float> floats = {-INFINITY, INFINITY, 0.0f, -0.0f};
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 400009) {
    const auto drawn = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isnan(drawn)) floats.insert(floats.end(), {drawn, std::nextafter(drawn, INFINITY)});
  }
  std::sort(floats.begin(), floats.end());
  return floats;
}

TEST(Links, AnyFloatIsAnExposureAndAnOffsetAndNoneFallsWhenItRises) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  EXPECT_EQ(usable_exposure(NAN), 1);
  EXPECT_EQ(usable_offset(NAN), 0);
  float exposure_before = 0, offset_before = -kLargest;
  for (const float drawn : floats_of_all_sizes()) {
    const float exposure = usable_exposure(drawn), offset = usable_offset(drawn);
    ASSERT_TRUE(exposure >= exposure_before && exposure <= kLargest) << drawn;
    ASSERT_TRUE(offset >= offset_before && offset <= kLargest) << drawn;
    if (std::isfinite(drawn)) {
      ASSERT_EQ(offset, drawn);
      ASSERT_EQ(exposure, drawn > 0 ? drawn : 0);
    }
    exposure_before = exposure;
    offset_before = offset;
  }
  EXPECT_EQ(exposure_before, kLargest);
}

TEST(Links, NoPredictionFallsWhenTheExposureRisesWhateverTheScore) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const std::vector<float> exposures = floats_of_all_sizes();
  for (const float score : {-kLargest, -100.0f, 0.0f, 3.0f, 88.0f, 89.0f, kLargest}) {
    for (const float unit : {0x1p-40f, 1.0f, 0x1p40f}) {
      float before = 0;
      for (const float exposure : exposures) {
        float now = score;
        apply_link(Link::exponential, unit, exposure, {&now, 1});
        ASSERT_TRUE(now >= before && now <= kLargest) << score << " " << unit << " " << exposure;
        before = now;
      }
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

TEST(Links, ThePromisedSoftmaxIsTheSoftmaxAndMovesWithItsScores) {
  for (const float shift : {0.0f, -1e3f, 3e37f}) {
    const float scores[] = {shift, shift + 1, shift - 2, 0.5f};
    std::vector<float> plain(std::begin(scores), std::end(scores)), promised = plain;
    apply_link(Link::softmax, 1, 1, plain);
    apply_link(Link::promised_softmax, 1, 1, promised);
    for (std::size_t c = 0; c < plain.size(); ++c) EXPECT_NEAR(promised[c], plain[c], 1e-4);
    for (std::size_t c = 0; c < plain.size(); ++c) {
      std::vector<float> moved(std::begin(scores), std::end(scores));
      for (std::size_t j = 0; j < moved.size(); ++j)
        moved[j] = std::nextafter(moved[j], j == c ? INFINITY : -INFINITY);
      apply_link(Link::promised_softmax, 1, 1, moved);
      EXPECT_GE(moved[c], promised[c]);
    }
  }
}

// What the promised softmax adds up: of floats, in double.
TEST(LongPromisedSoftmax, ThePowerOfEveryFloatNeverFallsInDouble) {
  constexpr float kLeast = std::numeric_limits<float>::min();
  constexpr auto power = [](float x) noexcept { return portable_exp(x); };
  expect_rises(+power, -1000.0f, -kLeast);
  expect_rises(+power, kLeast, 1000.0f);
  EXPECT_EQ(power(-kLeast), 1.0);
  EXPECT_EQ(power(kLeast), 1.0);
}

}  // namespace
}  // namespace espalier
