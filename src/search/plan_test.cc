// SPDX-License-Identifier: Apache-2.0
#include "search/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "core/random.h"
#include "search/halving.h"
#include "support/effort.h"

namespace espalier {
namespace {

TEST(Plan, FewRowsAreJudgedMoreOften) {
  EXPECT_EQ(with_repeats({}, 4999).confirm, 10);
  EXPECT_EQ(with_repeats({}, 5000).confirm, 5);
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

TEST(ClearlyLower, NeedsTwoLossesAndADifferenceBeyondItsNoise) {
  const double nan = std::nan("");
  EXPECT_FALSE(clearly_lower({}, {}, {}));
  EXPECT_FALSE(clearly_lower({1, 2}, {}, {}));
  EXPECT_FALSE(clearly_lower({}, {1, 2}, {}));
  EXPECT_FALSE(clearly_lower({1, 2, 3}, {1, 2, 3}, {}));
  EXPECT_FALSE(clearly_lower({1}, {0.5}, {}));
  EXPECT_FALSE(clearly_lower({1, 2}, {0.5, nan}, {}));
  EXPECT_TRUE(clearly_lower({1, 5, 9}, {0.9, 4.9, 8.9}, {}));
  EXPECT_FALSE(clearly_lower({1, 1, 1}, {0, 1.1, 1.2}, {}));
  // Differences 1, 2, 3: mean 2, deviation 1; t is 3.10 for one look and 5.64 for three.
  const std::vector<double> zeros(3), trial = {-1, -2, -3};
  EXPECT_TRUE(clearly_lower(zeros, trial, {}));
  EXPECT_FALSE(clearly_lower(zeros, trial, {.looks = 3}));
  EXPECT_TRUE(clearly_lower(zeros, trial, {.shared = 0.08}));   // 3.10 sqrt(1/3 + 0.08) = 1.996
  EXPECT_FALSE(clearly_lower(zeros, trial, {.shared = 0.09}));  // 2.019
}

TEST(ClearlyLower, ALookMoreOrMoreSharedRowsNeverHelp) {
  Random random(1);
  int clear = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> defaults, trial;
    for (std::uint64_t r = 0; r < 2 + random.below(8); ++r) {
      defaults.push_back(random.uniform());
      trial.push_back(random.uniform() - 1);
    }
    const Luck luck{.looks = 1 + random.below(5), .shared = random.uniform()};
    const bool lower = clearly_lower(defaults, trial, luck);
    clear += lower ? 1 : 0;
    EXPECT_FALSE(lower && clearly_lower(trial, defaults, luck));
    EXPECT_TRUE(!clearly_lower(defaults, trial, {luck.looks + 1, luck.shared}) || lower);
    EXPECT_TRUE(!clearly_lower(defaults, trial, {luck.looks, luck.shared + 0.1}) || lower);
  }
  EXPECT_GT(clear, 200);
}

// A search in numbers: 12 trials beside the defaults. On each row a trial gains a number of its
// own, whose mean over all rows that there might be is 0, and each training adds noise. The three
// best trials of the search are confirmed on rows that are held out as Search does it.
struct SearchDraw {
  enum class Rows { split, folds, file };
  Rows mode = Rows::split;
  std::size_t repeats = 5;
  double noise = 1;  // of a training, as a multiple of that of the validation rows
  double gain = 0;   // of one trial, in deviations of the difference between two trainings
};

constexpr std::size_t kTrials = 12;
constexpr std::size_t kPlanRows = 60;   // of the table, or of the file of validation rows
constexpr std::size_t kValidRows = 12;  // each time

class DrawnSearch {
 public:
  DrawnSearch(const SearchDraw& draw, Random random) : draw_(draw), random_(random) {
    const double deviation = std::sqrt((1 + 2 * draw.noise * draw.noise) / kValidRows);
    losses_.resize(kTrials, std::vector<double>(kPlanRows));
    for (std::size_t t = 0; t < kTrials; ++t) {
      for (double& loss : losses_[t])
        loss = random_.normal() - (t == 0 ? draw.gain * deviation : 0);
    }
    order_.resize(kPlanRows);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  // Whether a trial is accepted.
  bool accepts() {
    const std::size_t searched = is(SearchDraw::Rows::split) ? kValidRows : kPlanRows;
    std::vector<std::pair<double, std::size_t>> ranked;
    random_.shuffle(std::span(order_));
    for (std::size_t t = 0; t < kTrials; ++t)
      ranked.emplace_back(trained(t, std::span(order_).first(searched)), t);
    std::ranges::sort(ranked);
    ranked.resize(3);
    std::vector<double> defaults;
    std::vector<std::vector<double>> leaders(3);
    for (std::size_t repeat = 0; repeat < draw_.repeats; ++repeat) {
      for (const std::span<const std::size_t> rows : scored(searched)) {
        defaults.push_back(training_noise());
        for (std::size_t k = 0; k < 3; ++k) leaders[k].push_back(trained(ranked[k].second, rows));
      }
    }
    return std::ranges::any_of(leaders, [&](const std::vector<double>& leader) {
      return clearly_lower(defaults, leader, luck());
    });
  }

 private:
  bool is(SearchDraw::Rows mode) const { return draw_.mode == mode; }

  Luck luck() const {
    constexpr double n = kPlanRows, v = kValidRows;
    if (is(SearchDraw::Rows::split)) return {.looks = 3, .shared = v / (n - 2 * v)};
    return {.looks = kTrials, .shared = v / (n - v)};
  }

  // Of a repeat: the rows of each training.
  std::vector<std::span<const std::size_t>> scored(std::size_t searched) {
    const std::span<std::size_t> all(order_);
    if (is(SearchDraw::Rows::split)) {  // none of those that chose the leaders
      random_.shuffle(all.subspan(searched));
      return {all.subspan(searched, kValidRows)};
    }
    random_.shuffle(all);
    if (is(SearchDraw::Rows::file)) return {all.first(kValidRows)};
    std::vector<std::span<const std::size_t>> folds;
    for (std::size_t at = 0; at < kPlanRows; at += kValidRows)
      folds.push_back(all.subspan(at, kValidRows));
    return folds;
  }

  double training_noise() {
    return draw_.noise * random_.normal() / std::sqrt(static_cast<double>(kValidRows));
  }

  double trained(std::size_t trial, std::span<const std::size_t> rows) {
    double sum = 0;
    for (const std::size_t row : rows) sum += losses_[trial][row];
    return sum / static_cast<double>(rows.size()) + training_noise();
  }

  const SearchDraw draw_;
  Random random_;
  std::vector<std::vector<double>> losses_;  // [trial][row], beside those of the defaults
  std::vector<std::size_t> order_;
};

double accepted(const SearchDraw& draw, int searches) {
  int count = 0;
  for (int s = 0; s < searches; ++s)
    count += DrawnSearch(draw, Random(static_cast<std::uint64_t>(s))).accepts() ? 1 : 0;
  return static_cast<double>(count) / searches;
}

TEST(ClearlyLower, AcceptsAtMost5PercentOfSearchesWithNothingToGain) {
  using enum SearchDraw::Rows;
  for (const SearchDraw::Rows mode : {split, folds, file}) {
    for (const std::size_t repeats : {5u, 10u}) {
      for (const double noise : {0.1, 1.0}) {
        const SearchDraw draw{.mode = mode, .repeats = repeats, .noise = noise};
        const double rate = accepted(draw, 1500);
        EXPECT_LE(rate, 0.05) << static_cast<int>(mode) << " " << repeats << " " << noise;
      }
    }
  }
}

// The power where one trial gains three deviations of the difference between two trainings.
TEST(ClearlyLower, AcceptsRealGains) {
  using enum SearchDraw::Rows;
  const auto power = [](SearchDraw::Rows mode, std::size_t repeats) {
    const SearchDraw draw{.mode = mode, .repeats = repeats, .gain = 3};
    return accepted(draw, effort(400, 100));
  };
  EXPECT_GT(power(split, 5), 0.75);
  EXPECT_GT(power(split, 10), 0.95);
  EXPECT_GT(power(folds, 5), 0.95);
  EXPECT_GT(power(folds, 10), 0.95);
  EXPECT_GT(power(file, 5), 0.5);
  EXPECT_GT(power(file, 10), 0.9);
}

}  // namespace
}  // namespace espalier
