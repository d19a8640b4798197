// SPDX-License-Identifier: Apache-2.0
#include "train/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/random.h"

namespace espalier {
namespace {

// However improvements fall, training waits no longer than it says, and it ends on an evaluated
// epoch.
TEST(Policy, TrainingEndsOnAnEvaluatedEpoch) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const TrainOptions options = {.epochs = 1 + static_cast<int>(random.below(1600))};
    const std::int64_t steps = std::int64_t{1} << random.below(14);
    const double luck = random.uniform();
    int improved = 0, evaluated = 0, epoch = 0;
    do {
      ++epoch;
      if (!is_evaluated(epoch, improved, options, steps)) continue;
      EXPECT_LE(epoch - evaluated, std::max(kFirstEvaluation, epoch / 10 + 1));
      evaluated = epoch;
      if (improved == 0 || random.uniform() < luck) improved = epoch;
    } while (epoch < options.epochs &&
             (improved == 0 || epoch - improved < epochs_to_wait(improved, options, steps)));
    EXPECT_EQ(evaluated, epoch);
    EXPECT_LE(expected_epochs(improved, options, steps), options.epochs);
  }
}

TEST(Policy, VeryFewRowsAreWaitedForLongerAndManyRowsForShorter) {
  EXPECT_EQ(epochs_to_wait(1, {.epochs = 8 * 200}, 10), 40);
  EXPECT_EQ(epochs_to_wait(1, {.epochs = 8 * 12}, 100), 8);
  EXPECT_EQ(epochs_to_wait(1, {.epochs = 8 * 12}, 1200), 2);
  EXPECT_EQ(epochs_to_wait(100, {.epochs = 8 * 12}, 1200), 30);
}

// An improvement is measured against what a model can gain over a constant one, so that an offset
// of the metric does not make it small.
TEST(Policy, AnImprovementIsMeasuredAgainstTheConstantModel) {
  EXPECT_TRUE(has_improved(0.9, 1.0, 2.0, false));
  EXPECT_FALSE(has_improved(0.9999, 1.0, 2.0, false));
  EXPECT_TRUE(has_improved(0.9999, 1.0, 1.05, false));
  EXPECT_FALSE(has_improved(1.1, 1.0, 2.0, false));
  EXPECT_TRUE(has_improved(0.8, 0.7, 0.5, true));
  EXPECT_FALSE(has_improved(0.7, 0.8, 0.5, true));
  EXPECT_FALSE(has_improved(std::nan(""), 0.8, 0.5, true));
}

TEST(Policy, TheRateNeverRisesButToWarmUp) {
  for (const Loss loss : {Loss::squared_error, Loss::poisson, Loss::quantile}) {
    for (const std::size_t rows : {1000, 30'000}) {
      const RateDecay fall = rate_decay({.loss = loss}, 1, rows, 8000);
      double before = 0;
      bool falls = false;
      for (int step = 0; step < 8000; ++step) {
        const double share = rate_share(fall, step);
        ASSERT_GT(share, 0);
        ASSERT_LE(share, 1);
        falls |= share < before;
        if (falls) {
          ASSERT_LE(share, before);
        }
        before = share;
      }
      EXPECT_EQ(falls, loss != Loss::squared_error || rows > 20'000);
    }
  }
}

TEST(Policy, AFiniteMetricImprovesOnOneThatIsNot) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const bool larger : {false, true}) {
    const double worst = larger ? -kInfinity : kInfinity;
    for (const double constant : {2.0, worst, std::nan("")}) {
      for (const double before : {worst, std::nan("")}) {
        EXPECT_TRUE(has_improved(1, before, constant, larger));
        EXPECT_FALSE(has_improved(before, before, constant, larger));
        EXPECT_FALSE(has_improved(before, 1, constant, larger));
      }
    }
  }
}

TEST(Policy, FewerRowsHaveNoFewerMembers) {
  for (const bool rotates : {false, true}) {
    int before = 1000;
    for (std::size_t rows = 1; rows < 100'000'000; rows *= 3) {
      const int members = default_members(rows, rotates);
      EXPECT_GE(members, 1);
      EXPECT_LE(members, before);
      before = members;
    }
  }
}

TEST(Policy, EveryNetworkThatHoldsOutOtherRowsHasAForestBesideIt) {
  for (int networks = 1; networks < 10; ++networks) {
    for (const std::size_t rows : {100, 5000, 100'000}) {
      EXPECT_EQ(forests_beside(networks, rows, true), networks);
      const int forests = forests_beside(networks, rows, false);
      EXPECT_GE(forests, 1);
      EXPECT_LE(forests, networks);
    }
  }
}

}  // namespace
}  // namespace espalier
