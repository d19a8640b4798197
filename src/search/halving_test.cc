// SPDX-License-Identifier: Apache-2.0
#include "search/halving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "core/random.h"

namespace espalier {
namespace {

using ::testing::ElementsAre;

// Runs all jobs, up to `threads` at a time that finish in random order; returns the trials of each
// rung.
std::map<int, std::set<int>> run_all(int trials, int threads, std::uint64_t seed,
                                     double (*loss)(int trial)) {
  Halving halving(trials);
  Random random(seed);
  std::map<int, std::set<int>> ran;
  std::vector<Job> running;
  for (;;) {
    while (static_cast<int>(running.size()) < threads) {
      const auto job = halving.next();
      if (!job) break;
      EXPECT_TRUE(ran[job->rung].insert(job->trial).second) << job->trial;
      running.push_back(*job);
    }
    if (running.empty()) return ran;
    const auto done = running.begin() + static_cast<std::ptrdiff_t>(random.below(running.size()));
    halving.finish(*done, loss(done->trial));
    running.erase(done);
  }
}

TEST(Halving, TheDefaultsRunFirstWithAllTheirEpochs) {
  Halving halving(0);
  EXPECT_EQ(halving.next(), (Job{1, kRungs}));
  EXPECT_EQ(halving.next(), (Job{2, 1}));
}

TEST(Halving, TheBestThirdGoesOn) {
  const auto ran = run_all(28, 1, 1, [](int trial) { return std::abs(trial - 10.2); });
  EXPECT_EQ(ran.at(1).size(), 27u);
  EXPECT_THAT(ran.at(2), ElementsAre(6, 7, 8, 9, 10, 11, 12, 13, 14));
  EXPECT_THAT(ran.at(3), ElementsAre(1, 9, 10, 11));
}

TEST(Halving, AShortLastBracketStillSendsItsBestToTheEnd) {
  const auto ran = run_all(30, 1, 1, [](int trial) { return -static_cast<double>(trial); });
  EXPECT_TRUE(ran.at(2).contains(30));
  EXPECT_TRUE(ran.at(3).contains(30));
  EXPECT_FALSE(ran.at(2).contains(29));
}

TEST(Halving, WhoGoesOnDoesNotDependOnTheThreadsOrOnWhoFinishesFirst) {
  const auto loss = [](int trial) { return std::sin(trial * 7.0); };
  const auto expected = run_all(100, 1, 1, loss);
  for (const int threads : {2, 3, 16})
    for (const std::uint64_t seed : {1, 2, 3})
      EXPECT_EQ(run_all(100, threads, seed, loss), expected);
}

TEST(Halving, WhatDivergedIsTheWorst) {
  const auto ran =
      run_all(10, 2, 1, [](int trial) { return trial % 3 == 2 ? 1.0 + trial : std::nan(""); });
  EXPECT_THAT(ran.at(2), ElementsAre(2, 5, 8));
}

TEST(Halving, WithoutEndThereIsAlwaysAnotherJob) {
  Halving halving(0);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(halving.next());
}

TEST(Halving, ARungHasAThirdOfTheEpochsOfTheNextAndAtLeastOne) {
  EXPECT_EQ(epochs_at_rung(27, 1), 3);
  EXPECT_EQ(epochs_at_rung(27, 2), 9);
  EXPECT_EQ(epochs_at_rung(27, 3), 27);
  EXPECT_EQ(epochs_at_rung(19, 1), 3);
  EXPECT_EQ(epochs_at_rung(1, 1), 1);
}

}  // namespace
}  // namespace espalier
