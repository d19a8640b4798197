// SPDX-License-Identifier: Apache-2.0
#include "search/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "search/halving.h"

namespace espalier {
namespace {

TEST(Plan, FewRowsAreJudgedMoreOften) {
  EXPECT_EQ(with_repeats({}, 4999).confirm, 10);
  EXPECT_EQ(with_repeats({}, 5000).confirm, 3);
  for (const int confirm : {0, 1, 7}) {
    EXPECT_EQ(with_repeats({.confirm = confirm}, 100).confirm, confirm);
  }
}

TEST(Plan, WithoutALimitOfTimeNothingDependsOnIt) {
  for (const int trials : {0, 1, 100}) {
    const Plan quick = plan_search({.trials = trials}, {0.1, 2, 5});
    const Plan slow = plan_search({.trials = trials}, {1000, 1, 5000});
    EXPECT_EQ(quick.trials, trials == 0 ? 1 + kBracket : trials);
    EXPECT_EQ(slow.trials, quick.trials);
    EXPECT_EQ(slow.bracket, kBracket);
    EXPECT_EQ(slow.search_end, 0);
  }
}

TEST(Plan, WhatTheTimeCannotConfirmIsNotSearched) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const TuneOptions tune = {.minutes = random.uniform(), .confirm = 1 + i % 4};
    const int threads = 1 + i % 3;
    const double seconds = std::exp(10 * random.uniform() - 5), elapsed = 60 * random.uniform();
    const Plan plan = plan_search(tune, {seconds, 1.0 * threads, elapsed});
    const double left = std::max(0.0, 60 * tune.minutes - elapsed);
    EXPECT_LE(plan.search_end, std::max(elapsed, 60 * tune.minutes));
    const double to_confirm = (elapsed + left - plan.search_end) * threads;
    if (plan.trials != 1) {
      EXPECT_GE(to_confirm * (1 + 1e-9), 2 * tune.confirm * seconds);
    }
    const Plan longer = plan_search(tune, {seconds / 2, 1.0 * threads, elapsed});
    EXPECT_GE(longer.bracket, plan.bracket);
    EXPECT_TRUE(plan.trials != 0 || longer.trials == 0);
  }
  EXPECT_EQ(plan_search({.minutes = 1, .confirm = 3}, {0.01, 1, 0}).bracket, kBracket);
  EXPECT_EQ(plan_search({.minutes = 1, .confirm = 3}, {0, 1, 0}).bracket, kBracket);
  EXPECT_EQ(plan_search({.minutes = 1, .confirm = 3}, {3.5, 1, 0}).bracket, kBracket / kEta);
  EXPECT_EQ(plan_search({.minutes = 1, .confirm = 3}, {30, 1, 0}).trials, 1);
}

TEST(Plan, NetworksFillTheTimeOfTheSearch) {
  const auto networks = [](double minutes, double seconds) {
    return networks_within({.minutes = minutes}, {seconds, 2}, {1, 5});
  };
  EXPECT_EQ(networks(1e-9, 1), 1);
  EXPECT_EQ(networks(1, 60), 2);
  EXPECT_EQ(networks(1, 1), 5);
  EXPECT_EQ(networks(1, 0), 1);
  EXPECT_EQ(networks(0, 1000), 5);
  EXPECT_EQ(networks_within({.minutes = 1}, {1000, 1}, {5, 5}), 5);
  EXPECT_EQ(networks_within({}, {1, 1}, {3, 1}), 3);
  EXPECT_EQ(networks_within({.trials = 1}, {1, 1}, {1, 5}), 1);
}

// The defaults win ties, and noise beats them in about one of forty cases with many repeats.
TEST(Plan, ATrialWinsOnlyIfItIsClearlyBetter) {
  const double nan = std::nan("");
  EXPECT_FALSE(clearly_lower({}, {}));
  EXPECT_FALSE(clearly_lower({1, 2}, {}));
  EXPECT_FALSE(clearly_lower({}, {1, 2}));
  EXPECT_FALSE(clearly_lower({1, 2, 3}, {1, 2, 3}));
  EXPECT_FALSE(clearly_lower({1}, {1}));
  EXPECT_TRUE(clearly_lower({1}, {0.5}));
  EXPECT_FALSE(clearly_lower({1, 2}, {0.5, nan}));
  EXPECT_TRUE(clearly_lower({1, 5, 9}, {0.9, 4.9, 8.9}));
  EXPECT_FALSE(clearly_lower({1, 1, 1}, {0, 1.1, 1.2}));
  Random random(1);
  int clear = 0;
  constexpr int kCases = 2000;
  for (int i = 0; i < kCases; ++i) {
    std::vector<double> defaults, trial;
    for (int repeat = 0; repeat < 30; ++repeat) {
      defaults.push_back(random.uniform());
      trial.push_back(random.uniform());
    }
    const bool lower = clearly_lower(defaults, trial);
    clear += lower;
    EXPECT_FALSE(lower && clearly_lower(trial, defaults));
    for (double& loss : trial) loss -= 1;
    EXPECT_TRUE(clearly_lower(defaults, trial));
  }
  EXPECT_NEAR(clear, 0.025 * kCases, 0.015 * kCases);
}

}  // namespace
}  // namespace espalier
