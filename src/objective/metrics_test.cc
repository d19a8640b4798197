// SPDX-License-Identifier: Apache-2.0
#include "espalier/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"
#include "espalier/error.h"
#include "support/error_of.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;
using Floats = std::vector<float>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

const Label kNumber;
const Label kTwoClasses{.loss = Loss::log_loss, .classes = {"no", "yes"}};

bool is_of(const Label& label, Metric metric) {
  const auto metrics = metrics_of(label);
  return std::find(metrics.begin(), metrics.end(), metric) != metrics.end();
}

double metric_of(Metric metric, const Floats& labels, const Floats& scores,
                 const Floats& weights = {}) {
  const std::vector<double> exact(labels.begin(), labels.end());
  return compute_metric(metric, is_of(kNumber, metric) ? kNumber : kTwoClasses,
                        {exact, scores, weights});
}

TEST(Metrics, ListsTheMetricsOfATask) {
  const auto classification = metrics_of(kTwoClasses);
  EXPECT_EQ(std::vector<Metric>(classification.begin(), classification.end()),
            (std::vector<Metric>{Metric::accuracy, Metric::log_loss, Metric::auc, Metric::brier}));
  const auto regression = metrics_of(kNumber);
  EXPECT_EQ(std::vector<Metric>(regression.begin(), regression.end()),
            (std::vector<Metric>{Metric::mse, Metric::rmse, Metric::mae, Metric::r2}));
}

TEST(Metrics, KnowsWhichAreBetterWhenLarger) {
  for (const Metric metric :
       {Metric::accuracy, Metric::auc, Metric::r2, Metric::d2, Metric::gini}) {
    EXPECT_TRUE(larger_is_better(metric)) << to_word(metric);
  }
  for (const Metric metric :
       {Metric::log_loss, Metric::brier, Metric::mse, Metric::rmse, Metric::mae}) {
    EXPECT_FALSE(larger_is_better(metric)) << to_word(metric);
  }
}

TEST(Accuracy, CountsAScoreOfZeroAsNegative) {
  EXPECT_EQ(metric_of(Metric::accuracy, {1, 0, 1, 0}, {2, -1, -3, 0.5f}), 0.5);
  EXPECT_EQ(metric_of(Metric::accuracy, {1, 0}, {0, 0}), 0.5);
  EXPECT_EQ(metric_of(Metric::accuracy, {1, 0, 1}, {2, -1, -3}, {1, 2, 5}), 3.0 / 8);
}

TEST(Accuracy, CountsNanAsWrong) { EXPECT_EQ(metric_of(Metric::accuracy, {1, 0}, {NAN, NAN}), 0); }

TEST(LogLoss, MatchesHandComputedExamples) {
  const float log3 = std::log(3.0f);  // probability 3/4
  EXPECT_NEAR(metric_of(Metric::log_loss, {1, 0}, {log3, log3}),
              -(std::log(0.75) + std::log(0.25)) / 2, 1e-7);
  EXPECT_NEAR(metric_of(Metric::log_loss, {1, 0}, {log3, log3}, {3, 1}),
              -(3 * std::log(0.75) + std::log(0.25)) / 4, 1e-7);
  EXPECT_NEAR(metric_of(Metric::log_loss, {0, 1}, {0, 0}), std::log(2.0), 1e-15);
}

TEST(LogLoss, IsStableForExtremeLogits) {
  EXPECT_EQ(metric_of(Metric::log_loss, {0, 1}, {10000, -10000}), 10000);
  EXPECT_EQ(metric_of(Metric::log_loss, {1, 0}, {10000, -10000}), 0);
  EXPECT_EQ(metric_of(Metric::log_loss, {1, 0}, {kInfinity, -kInfinity}), 0);
  EXPECT_EQ(metric_of(Metric::log_loss, {1}, {-kInfinity}), kInfinity);
  EXPECT_TRUE(std::isnan(metric_of(Metric::log_loss, {1}, {NAN})));
}

TEST(Brier, IsTheSquaredErrorOfTheProbability) {
  const float log3 = std::log(3.0f);
  EXPECT_NEAR(metric_of(Metric::brier, {1, 0}, {log3, log3}), (0.0625 + 0.5625) / 2, 1e-7);
  EXPECT_NEAR(metric_of(Metric::brier, {1, 0}, {log3, log3}, {1, 3}), (0.0625 + 3 * 0.5625) / 4,
              1e-7);
  EXPECT_EQ(metric_of(Metric::brier, {1, 0}, {1000, 1000}), 0.5);
  EXPECT_EQ(metric_of(Metric::brier, {1, 0}, {-kInfinity, -kInfinity}), 0.5);
}

TEST(Auc, MatchesHandComputedExamples) {
  EXPECT_EQ(metric_of(Metric::auc, {0, 0, 1, 1}, {0.1f, 0.4f, 0.35f, 0.8f}), 0.75);
  EXPECT_EQ(metric_of(Metric::auc, {0, 0, 1, 1}, {1, 2, 3, 4}), 1);
  EXPECT_EQ(metric_of(Metric::auc, {1, 1, 0, 0}, {1, 2, 3, 4}), 0);
  EXPECT_EQ(metric_of(Metric::auc, {0, 1, 0, 1}, {5, 5, 5, 5}), 0.5);
  EXPECT_EQ(metric_of(Metric::auc, {0, 1}, {-kInfinity, kInfinity}), 1);
  EXPECT_EQ(metric_of(Metric::auc, {0, 1}, {-0.0f, 0.0f}), 0.5);
}

TEST(Auc, IsNanWithOneClassOrNanScores) {
  EXPECT_TRUE(std::isnan(metric_of(Metric::auc, {1, 1}, {1, 2})));
  EXPECT_TRUE(std::isnan(metric_of(Metric::auc, {0, 0}, {1, 2})));
  EXPECT_TRUE(std::isnan(metric_of(Metric::auc, {0, 1}, {1, 2}, {1, 0})));
  EXPECT_TRUE(std::isnan(metric_of(Metric::auc, {0, 1, 1}, {1, NAN, 2})));
}

double auc_of_all_pairs(const Floats& labels, const Floats& scores, const Floats& weights) {
  double ordered = 0, total = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t j = 0; j < labels.size(); ++j) {
      if (labels[i] != 1 || labels[j] != 0) continue;
      const double weight = static_cast<double>(weights[i]) * weights[j];
      total += weight;
      ordered += weight * (scores[i] > scores[j] ? 1.0 : scores[i] == scores[j] ? 0.5 : 0.0);
    }
  }
  return ordered / total;
}

TEST(Auc, MatchesTheCountOverAllPairs) {
  Random random(1);
  for (int round = 0; round < 50; ++round) {
    const std::uint64_t distinct_scores = 1 + random.below(200);
    Floats labels = {0, 1}, scores = {0, 0}, weights = {1, 1};
    for (int i = 0; i < 150; ++i) {
      labels.push_back(static_cast<float>(random.below(2)));
      scores.push_back(static_cast<float>(random.below(distinct_scores)));
      weights.push_back(static_cast<float>(3 * random.uniform()));
    }
    EXPECT_NEAR(metric_of(Metric::auc, labels, scores, weights),
                auc_of_all_pairs(labels, scores, weights), 1e-12);
    EXPECT_NEAR(metric_of(Metric::auc, labels, scores),
                auc_of_all_pairs(labels, scores, Floats(labels.size(), 1)), 1e-12);
  }
}

TEST(Regression, MatchesHandComputedExamples) {
  const Floats labels = {3, -0.5f, 2, 7};
  const Floats scores = {2.5f, 0, 2, 8};
  EXPECT_DOUBLE_EQ(metric_of(Metric::mse, labels, scores), 0.375);
  EXPECT_DOUBLE_EQ(metric_of(Metric::rmse, labels, scores), std::sqrt(0.375));
  EXPECT_DOUBLE_EQ(metric_of(Metric::mae, labels, scores), 0.5);
  EXPECT_DOUBLE_EQ(metric_of(Metric::r2, labels, scores), 1 - 1.5 / 29.1875);
}

TEST(Regression, CountsARowAsOftenAsItsWeight) {
  const Floats once_labels = {1, 4, 6}, once_scores = {2, 4, 3}, weights = {2, 1, 3};
  const Floats labels = {1, 1, 4, 6, 6, 6}, scores = {2, 2, 4, 3, 3, 3};
  for (const Metric metric : metrics_of(kNumber)) {
    EXPECT_DOUBLE_EQ(metric_of(metric, once_labels, once_scores, weights),
                     metric_of(metric, labels, scores))
        << to_word(metric);
  }
}

TEST(Regression, HasNoR2ForConstantLabels) {
  Random random(2);
  Floats weights(1000);
  for (float& weight : weights) weight = static_cast<float>(random.uniform());
  EXPECT_TRUE(std::isnan(metric_of(Metric::r2, Floats(1000, 0.1f), Floats(1000, 2), weights)));
  EXPECT_TRUE(std::isnan(metric_of(Metric::r2, {5}, {5})));
  EXPECT_EQ(metric_of(Metric::r2, {1, 2, 3}, {2, 2, 2}), 0);
  EXPECT_EQ(metric_of(Metric::r2, {1, 2, 3}, {1, 2, 3}), 1);
}

TEST(Metrics, WantAScoreAndAWeightPerRow) {
  const std::vector<double> labels = {0, 1};
  const Floats one = {1}, two = {1, 2};
  EXPECT_THAT(error_of([&] {
                compute_metric(Metric::mse, kNumber, {labels, one});
              }),
              HasSubstr("2 labels, 1 scores, 0 weights"));
  EXPECT_THAT(error_of([&] {
                compute_metric(Metric::auc, kTwoClasses, {labels, two, one});
              }),
              HasSubstr("2 labels, 2 scores, 1 weights"));
}

TEST(Metrics, AreNanWithoutRowsOrWeight) {
  for (const Label& label : {kTwoClasses, kNumber}) {
    for (const Metric metric : metrics_of(label)) {
      EXPECT_TRUE(std::isnan(metric_of(metric, {}, {}))) << to_word(metric);
      EXPECT_TRUE(std::isnan(metric_of(metric, {0, 1}, {1, 2}, {0, 0}))) << to_word(metric);
    }
  }
}

TEST(Metrics, RefuseAutomatic) { EXPECT_THROW(metric_of(Metric::automatic, {1}, {1}), Error); }

// Grades 0, 1, 2 with P(>= 1) = 3/4 and P(>= 2) = 1/4: 1/4, 1/2, 1/4 of their own.
TEST(Metrics, OfGradesMatchHandComputedExamples) {
  const Label label{.loss = Loss::log_loss, .classes = {"a", "b", "c"}, .ordered = true};
  const float log3 = std::log(3.0f);
  const std::vector<double> labels = {0, 1, 2};
  const Floats scores = {log3, -log3, log3, -log3, log3, -log3};
  const auto metric = [&](Metric own) { return compute_metric(own, label, {labels, scores}); };
  EXPECT_NEAR(metric(Metric::log_loss), (2 * std::log(4) + std::log(2)) / 3, 1e-6);
  EXPECT_NEAR(metric(Metric::accuracy), 1.0 / 3, 1e-12);
  EXPECT_NEAR(metric(Metric::mae), 2.0 / 3, 1e-12);
  EXPECT_NEAR(metric(Metric::rps), (10.0 / 16 + 2.0 / 16 + 10.0 / 16) / 2 / 3, 1e-6);
  EXPECT_EQ(metric(Metric::clipped), 0);
}

TEST(Metrics, OfManyClassesMatchHandComputedExamples) {
  const Label label{.loss = Loss::log_loss, .classes = {"a", "b", "c"}};
  const std::vector<double> labels = {2, 0};
  const float log2 = std::log(2.0f);  // probabilities 1/4, 1/4, 1/2
  const Floats scores = {0, 0, log2, 0, 0, log2};
  EXPECT_NEAR(compute_metric(Metric::log_loss, label, {labels, scores}),
              (std::log(2) + std::log(4)) / 2, 1e-6);
  EXPECT_EQ(compute_metric(Metric::accuracy, label, {labels, scores}), 0.5);
}

TEST(Metrics, OfQuantilesMatchHandComputedExamples) {
  const Label label{.loss = Loss::quantile, .quantiles = {0.25, 0.75}};
  const std::vector<double> labels = {1, 5, 2};
  const Floats scores = {0, 2, 0, 2, 0, 2};
  // Of 0.25: 0.25, 1.25, 0.5; of 0.75: 0.25, 2.25, 0.
  EXPECT_NEAR(compute_metric(Metric::pinball, label, {labels, scores}), 4.5 / 6, 1e-12);
  EXPECT_NEAR(compute_metric(Metric::coverage, label, {labels, scores}), 2.0 / 3, 1e-12);
}

// Two rows of rates 2 and 0.5 with exposures 1 and 2, predicted as rates 1 and 1.
TEST(Metrics, OfAmountsMatchHandComputedExamples) {
  const std::vector<double> labels = {2, 1};
  const Floats scores = {0, 0}, exposures = {1, 2};
  const auto metric = [&](Metric own, double power, Loss loss) {
    const Label label{.loss = loss, .power = power};
    return compute_metric(own, label, {labels, scores, {}, exposures});
  };
  const double first = 2 * (2 * std::log(2) - 1), second = 2 * (0.5 * std::log(0.5) + 0.5);
  EXPECT_NEAR(metric(Metric::deviance, 1, Loss::poisson), (first + 2 * second) / 3, 1e-9);
  EXPECT_NEAR(metric(Metric::balance, 1, Loss::poisson), 1, 1e-9);
  EXPECT_NEAR(metric(Metric::d2, 1, Loss::poisson), 0, 1e-9);
  EXPECT_NEAR(metric(Metric::gini, 1, Loss::poisson), 0, 1e-9);  // a tie
  const double tweedie = 2 * (std::sqrt(2) / -0.25 + 2 * 2 + 2);
  const double other = 2 * (std::sqrt(0.5) / -0.25 + 0.5 * 2 + 2);
  EXPECT_NEAR(metric(Metric::deviance, 1.5, Loss::tweedie), (tweedie + 2 * other) / 3, 1e-9);
}

// All labels in the last hundredth of the rows, in order or against it.
TEST(Gini, IsNearOneInTheRightOrder) {
  const Label label{.loss = Loss::poisson, .power = 1};
  std::vector<double> labels(100);
  labels.back() = 1;
  Floats scores(100), turned(100);
  for (std::size_t i = 0; i < 100; ++i)
    scores[i] = static_cast<float>(i) / 100, turned[i] = -scores[i];
  EXPECT_NEAR(compute_metric(Metric::gini, label, {labels, scores}), 0.99, 1e-6);
  EXPECT_NEAR(compute_metric(Metric::gini, label, {labels, turned}), -0.99, 1e-6);
}

}  // namespace
}  // namespace espalier
