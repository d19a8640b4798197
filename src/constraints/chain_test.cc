// SPDX-License-Identifier: Apache-2.0
#include "constraints/chain.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "constraints/check.h"
#include "constraints/inequalities.h"
#include "core/random.h"

namespace espalier {
namespace {

std::vector<float> projected(std::vector<float> values) {
  project_chain(values);
  return values;
}

std::vector<float> random_chain(Random& random, std::size_t size) {
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

// Isotonic regression by its min-max formula: x_i = max over j <= i of min over k >= i of the mean
// of y_j ... y_k.
std::vector<double> min_max_oracle(const std::vector<float>& y) {
  std::vector<double> x(y.size(), -std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double lowest = std::numeric_limits<double>::infinity();
      for (std::size_t k = i; k < y.size(); ++k) {
        const double sum = std::accumulate(&y[j], &y[k] + 1, 0.0);
        lowest = std::min(lowest, sum / static_cast<double>(k - j + 1));
      }
      x[i] = std::max(x[i], lowest);
    }
  }
  return x;
}

TEST(ProjectChain, PoolsAdjacentViolators) {
  EXPECT_EQ(projected({}), (std::vector<float>{}));
  EXPECT_EQ(projected({5}), (std::vector<float>{5}));
  EXPECT_EQ(projected({1, 3, 2}), (std::vector<float>{1, 2.5, 2.5}));
  EXPECT_EQ(projected({3, 2, 1}), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(projected({1, 2, 6, 2, 1, 7}), (std::vector<float>{1, 2, 3, 3, 3, 7}));
}

TEST(ProjectChain, IsTheNearestNonDecreasingSequence) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    const std::vector<float> values = random_chain(random, 1 + random.below(40));
    const std::vector<float> found = projected(values);
    const std::vector<double> wanted = min_max_oracle(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_FLOAT_EQ(found[i], static_cast<float>(wanted[i]));
    }
  }
}

TEST(ProjectChain, HeedsTheWeights) {
  // A value of weight 3 counts like three neighbours of weight 1 with the same value.
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    const std::vector<float> values = random_chain(random, 1 + random.below(12));
    std::vector<float> variance, repeated;
    for (const float value : values) {
      const auto weight = static_cast<float>(1 + random.below(4));
      variance.push_back((weight - 0.5f) * (weight - 0.5f) / 4);
      repeated.insert(repeated.end(), static_cast<std::size_t>(weight), value);
    }
    std::vector<float> found = values;
    project_chain(found, {.variance = variance.data(), .correction = 4, .epsilon = 0.5f});
    const std::vector<double> wanted = min_max_oracle(repeated);
    std::size_t at = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(found[i], wanted[at], 1e-6);
      at += static_cast<std::size_t>(std::lround(2 * std::sqrt(variance[i]) + 0.5));
    }
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
  }
}

TEST(ProjectChain, ValuesThatNeverHadAGradientMayBePooledToo) {
  std::vector<float> values = {2, 1};
  const std::vector<float> variance = {0, 0};
  project_chain(values, {.variance = variance.data()});
  EXPECT_EQ(values, (std::vector<float>{1.5, 1.5}));
}

TEST(ProjectChain, ClippingAfterwardsIsTheNearestWithinBounds) {
  // Optimal iff no feasible direction helps: <x - y, z - x> >= 0 for all feasible z.
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const std::vector<float> y = random_chain(random, 12);
    std::vector<float> x = y;
    project_chain(x);
    clip(x, {.count = x.size(), .lo = -0.3f, .hi = 0.4f});
    EXPECT_TRUE(std::is_sorted(x.begin(), x.end()) && x.front() >= -0.3f && x.back() <= 0.4f);
    // The extreme points of the feasible set are the steps from -0.3 to 0.4.
    for (std::size_t step = 0; step <= x.size(); ++step) {
      double product = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double z = i < step ? -0.3f : 0.4f;
        product += (static_cast<double>(x[i]) - y[i]) * (z - x[i]);
      }
      EXPECT_GE(product, -1e-6);
    }
  }
}

RC_GTEST_PROP(ProjectChain, IsFeasibleIdempotentAndKeepsTheMean, ()) {
  const auto tenths = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-1000, 1000));
  std::vector<float> values;
  for (const int tenth : tenths) values.push_back(static_cast<float>(tenth) / 10);
  const std::vector<float> once = projected(values);
  RC_ASSERT(std::is_sorted(once.begin(), once.end()));
  RC_ASSERT(projected(once) == once);
  const double before = std::accumulate(values.begin(), values.end(), 0.0);
  const double after = std::accumulate(once.begin(), once.end(), 0.0);
  RC_ASSERT(std::fabs(before - after) <= 1e-5 * static_cast<double>(values.size() + 1));
}

TEST(ProjectChain, TakesLongHugeAndTinyValues) {
  Random random(3);
  for (const float scale : {1e-44f, 1.0f, 1e38f}) {
    std::vector<float> values = random_chain(random, 1000);
    for (float& value : values) value = std::clamp(value, -3.0f, 3.0f) * scale;
    project_chain(values);
    EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));
    EXPECT_EQ(check_finite(values).violations, 0u);
  }
}

TEST(ProjectChain, LeavesASortedSequenceAlone) {
  const std::vector<float> values = {-1, 0.0f, -0.0f, 0.0f, 2, 2, 1e30f};
  std::vector<float> after = values;
  project_chain(after);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::signbit(after[i]), std::signbit(values[i]));
    EXPECT_EQ(after[i], values[i]);
  }
}

}  // namespace
}  // namespace espalier
