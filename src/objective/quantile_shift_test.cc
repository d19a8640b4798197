// SPDX-License-Identifier: Apache-2.0
#include "objective/quantile_shift.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/random.h"
#include "objective/loss.h"
#include "objective/metrics.h"

namespace espalier {
namespace {

constexpr int kDraws = 200;

struct Drawn {
  Label label;
  Dataset rows;
  std::vector<float> scores;
};

// Labels with ties, scores of levels that are too close together or too far apart.
Drawn draw(Random& random) {
  Drawn drawn;
  const std::size_t levels = 1 + random.below(4);
  drawn.label.loss = Loss::quantile;
  for (std::size_t l = 0; l < levels; ++l)
    drawn.label.quantiles.push_back((static_cast<double>(l) + 0.5) / static_cast<double>(levels));
  drawn.label.offsets.assign(levels, 3);
  drawn.rows.num_rows = 1 + random.below(40);
  const double apart = 4 * random.uniform() - 1;
  for (std::size_t i = 0; i < drawn.rows.num_rows; ++i) {
    drawn.rows.labels.push_back(static_cast<double>(random.below(20)) / 4);
    drawn.rows.beside[Role::weight].push_back(static_cast<float>(random.below(3)));
    for (std::size_t l = 0; l < levels; ++l)
      drawn.scores.push_back(static_cast<float>(random.uniform() + apart * static_cast<double>(l)));
  }
  return drawn;
}

std::vector<double> shifts_of(const Drawn& drawn) {
  Label label = drawn.label;
  shift_quantiles(drawn.rows, drawn.scores, label);
  for (double& offset : label.offsets) offset -= 3;
  return label.offsets;
}

TEST(QuantileShift, StaysInOrder) {
  Random random(1);
  for (int d = 0; d < kDraws; ++d) {
    const Drawn drawn = draw(random);
    ASSERT_TRUE(std::ranges::is_sorted(shifts_of(drawn)));
  }
}

// Labels and scores that are negated, with the levels in reverse.
TEST(QuantileShift, IsTheSameFromBothEnds) {
  Random random(2);
  for (int d = 0; d < kDraws; ++d) {
    const Drawn drawn = draw(random);
    Drawn negated = drawn;
    const std::size_t levels = drawn.label.quantiles.size();
    for (double& label : negated.rows.labels) label = -label;
    for (std::size_t i = 0; i < drawn.scores.size(); ++i)
      negated.scores[i] = -drawn.scores[i / levels * levels + levels - 1 - i % levels];
    const std::vector<double> shifts = shifts_of(drawn), others = shifts_of(negated);
    for (std::size_t l = 0; l < levels; ++l) ASSERT_NEAR(shifts[l], -others[levels - 1 - l], 1e-9);
  }
}

// Residuals evenly spread over [0, 1): a new one lies below the shift with a probability that
// equals the shift. A quantile at q n among n of them is too low on average, by up to 1 / (n + 1).
TEST(QuantileShift, ANewLabelLiesBelowAQuantileWithItsProbability) {
  Random random(3);
  for (const std::size_t count : {9u, 10u, 25u, 60u}) {
    constexpr int kSamples = 4000;
    std::vector<double> means(3);
    for (int s = 0; s < kSamples; ++s) {
      Drawn drawn{
          .label = {.loss = Loss::quantile, .quantiles = {0.1, 0.5, 0.9}, .offsets = {3, 3, 3}},
          .rows = {.num_rows = count},
          .scores = std::vector<float>(3 * count)};
      for (std::size_t i = 0; i < count; ++i) drawn.rows.labels.push_back(random.uniform());
      const std::vector<double> shifts = shifts_of(drawn);
      for (std::size_t l = 0; l < 3; ++l) means[l] += shifts[l] / kSamples;
    }
    for (std::size_t l = 0; l < 3; ++l)
      EXPECT_NEAR(means[l], 0.1 + 0.4 * static_cast<double>(l), 0.006) << count;
  }
}

double coverage_of(const Label& label, const Dataset& rows, std::span<const float> scores) {
  return evaluate(Metric::coverage, label, rows, scores);
}

// The rows that set the offsets are covered too well; the cross-fitted coverage is that of new
// rows.
TEST(QuantileShift, CrossFittedCoverageIsThatOfNewRows) {
  Random random(4);
  constexpr int kSamples = 800;
  constexpr std::size_t kRows = 25;
  double own = 0, cross_fitted = 0, fresh = 0;
  for (int s = 0; s < kSamples; ++s) {
    const Label label{.loss = Loss::quantile, .quantiles = {0.1, 0.9}, .offsets = {0, 0}};
    const auto rows_of = [&](std::size_t count) {
      Dataset rows{.num_rows = count};
      for (std::size_t i = 0; i < count; ++i) rows.labels.push_back(random.normal());
      return rows;
    };
    const auto scores_of = [](const Label& with, std::size_t count) {
      std::vector<float> scores;
      for (std::size_t i = 0; i < 2 * count; ++i)
        scores.push_back(static_cast<float>(with.offsets[i % 2]));
      return scores;
    };
    const Dataset rows = rows_of(kRows), others = rows_of(200);
    Label shifted = label;
    shift_quantiles(rows, scores_of(label, kRows), shifted);
    own += coverage_of(label, rows, scores_of(shifted, kRows)) / kSamples;
    cross_fitted +=
        coverage_of(label, rows, cross_fitted_scores(rows, scores_of(label, kRows), label)) /
        kSamples;
    fresh += coverage_of(label, others, scores_of(shifted, 200)) / kSamples;
  }
  EXPECT_NEAR(fresh, 0.8, 0.02);
  EXPECT_NEAR(cross_fitted, fresh, 0.015);
  EXPECT_GT(own, fresh + 0.02) << own << " " << fresh << " " << cross_fitted;
}

// By hand: the levels are too far apart, their residuals 2, 3, 4 and -4, -3, -2 cannot both be met.
// The middle of all six lies between -2 and 2.
TEST(QuantileShift, LevelsThatWouldPassEachOtherShareAShift) {
  Drawn drawn{.label = {.loss = Loss::quantile, .quantiles = {0.25, 0.75}, .offsets = {3, 3}},
              .rows = {.num_rows = 3, .labels = {3, 4, 5}},
              .scores = {1, 7, 1, 7, 1, 7}};
  EXPECT_EQ(shifts_of(drawn), (std::vector<double>{0, 0}));
}

}  // namespace
}  // namespace espalier
