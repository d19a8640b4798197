// SPDX-License-Identifier: Apache-2.0
// What holds for the importance of columns and for partial dependence, for every kind of label.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/random.h"
#include "espalier/explain.h"
#include "espalier/predictor.h"
#include "espalier/simulate.h"
#include "espalier/train.h"
#include "support/effort.h"
#include "support/error_of.h"
#include "support/random_model.h"

namespace espalier {
namespace {

// A small model of a synthetic table, and the table.
struct Trained {
  Table table;
  Model model;
};

Trained trained(SimulatedKind kind, TrainOptions options) {
  Table table = simulate({.kind = kind, .rows = effort(400, 150), .numbers = 4, .categories = 1});
  if (options.exposure.empty()) {
    std::erase_if(table.columns, [](const Column& column) { return column.name == "exposure"; });
  }
  for (const char* other : {"claims", "cost"}) {
    if (options.label == other) continue;
    std::erase_if(table.columns, [&](const Column& column) { return column.name == other; });
  }
  options.architecture = "calibrated-linear";
  options.epochs = 2;
  options.ensemble = 1;
  Model model = train(table, options).model;
  return {std::move(table), std::move(model)};
}

std::vector<Trained> all_kinds() {
  using enum SimulatedKind;
  std::vector<Trained> kinds;
  kinds.push_back(trained(loans, {.label = "default", .increasing = {"debt_ratio"}}));
  kinds.push_back(trained(loans, {.label = "default", .offset = "debt_ratio"}));
  kinds.push_back(trained(prices, {.label = "interest"}));
  kinds.push_back(trained(prices, {.label = "interest", .quantile = {0.1, 0.5, 0.9}}));
  kinds.push_back(trained(grades, {.label = "grade", .grades = "low<moderate<high<severe"}));
  kinds.push_back(trained(grades, {.label = "grade"}));
  kinds.push_back(
      trained(claims, {.label = "claims", .exposure = "exposure", .loss = Loss::poisson}));
  return kinds;
}

TEST(Importance, IsOfEveryKindOfLabelAndOfAnyNumberOfThreads) {
  for (const Trained& each : all_kinds()) {
    double last = 0;
    const ImportanceOptions options{.repeats = 2, .shared_rows = 40, .threads = 1};
    ImportanceOptions watched = options;
    watched.progress = [&](double share) {
      EXPECT_GE(share, last);
      last = share;
    };
    const Importance one = importance(each.model, each.table, watched);
    EXPECT_EQ(last, 1);
    EXPECT_EQ(one.shared_rows, 40u);
    ImportanceOptions other = options;
    other.threads = 3;
    const Importance three = importance(each.model, each.table, other);
    const auto& metrics = evaluate(each.model, each.table).metrics;
    const auto found = std::ranges::find(metrics, one.metric, &MetricValue::metric);
    ASSERT_NE(found, metrics.end());
    EXPECT_EQ(one.value, found->value);
    ASSERT_EQ(one.columns.size(), each.model.schema().features.size());
    for (std::size_t f = 0; f < one.columns.size(); ++f) {
      const ColumnImportance &a = one.columns[f], &b = three.columns[f];
      EXPECT_EQ(a.column, each.model.schema().features[f].name);
      EXPECT_EQ(a.loss.mean, b.loss.mean);
      EXPECT_EQ(a.loss.deviation, b.loss.deviation);
      EXPECT_EQ(a.move.mean, b.move.mean);
      EXPECT_EQ(a.share.mean, b.share.mean);
      EXPECT_EQ(a.share.deviation, b.share.deviation);
      EXPECT_GT(a.move.mean, 0);
      EXPECT_GT(a.share.mean, 0);
    }
  }
}

TEST(Importance, TheColumnThatDecidesIsTheFirstAndAnIdleOneIsWorthNothing) {
  Random random(1);
  Table table{.name = "t", .num_rows = 600};
  table.columns = {{.name = "idle"}, {.name = "strong"}, {.name = "weak"}, {.name = "y"}};
  for (std::size_t r = 0; r < table.num_rows; ++r) {
    const auto idle = static_cast<float>(random.uniform());
    const auto strong = static_cast<float>(random.uniform());
    const auto weak = static_cast<float>(random.uniform());
    const float cells[] = {idle, strong, weak, 4 * strong - weak};
    for (std::size_t c = 0; c < 4; ++c) table.columns[c].numbers.push_back(cells[c]);
  }
  const Model model =
      train(table, {.label = "y", .architecture = "calibrated-linear", .ensemble = 1, .epochs = 60})
          .model;
  const Importance all = importance(model, table);
  EXPECT_EQ(all.metric, Metric::mse);
  const auto &idle = all.columns[0], &strong = all.columns[1], &weak = all.columns[2];
  for (const auto part :
       {&ColumnImportance::loss, &ColumnImportance::move, &ColumnImportance::share}) {
    EXPECT_GT((strong.*part).mean, 2 * (weak.*part).mean);
    EXPECT_GT((weak.*part).mean, 2 * (idle.*part).mean);
  }
  // Of 4 u with u uniform: the shuffled squared error is 2 * 16 / 12, the mean distance from the
  // median 1, with a deviation of sqrt(1/3).
  EXPECT_NEAR(strong.loss.mean, 16.0 / 6, 0.4);
  EXPECT_NEAR(strong.share.mean, 1, 0.1);
  EXPECT_NEAR(strong.share.deviation, std::sqrt(1.0 / 3), 0.1);
  EXPECT_GT(strong.loss.deviation, 0);
}

TEST(Importance, WithoutLabelsThereIsNoLoss) {
  Trained each = trained(SimulatedKind::loans, {.label = "default"});
  std::erase_if(each.table.columns, [](const Column& column) { return column.name == "default"; });
  const Importance all =
      importance(each.model, each.table, {.repeats = 1, .shared_rows = 0, .threads = 1});
  EXPECT_TRUE(std::isnan(all.value));
  EXPECT_EQ(all.rows, each.table.num_rows);
  for (const ColumnImportance& column : all.columns) {
    EXPECT_TRUE(std::isnan(column.loss.mean));
    EXPECT_TRUE(std::isnan(column.share.mean));
    EXPECT_GT(column.move.mean, 0);
    EXPECT_EQ(column.move.deviation, 0);
  }
}

TEST(Importance, RefusesWhatDoesNotFit) {
  const Trained each = trained(SimulatedKind::loans, {.label = "default"});
  const auto error = [&](const ImportanceOptions& options) {
    return error_of([&] { importance(each.model, each.table, options); });
  };
  EXPECT_THAT(error({.repeats = 0}), testing::HasSubstr("repeats: 0 is not"));
  EXPECT_THAT(error({.baseline = {1}}), testing::HasSubstr("baseline: 1 cells"));
  EXPECT_THAT(error({.metric = Metric::gini}), testing::HasSubstr("gini"));
  EXPECT_THAT(error_of([&] { importance(each.model, {.name = "none.csv"}); }),
              testing::HasSubstr("none.csv: no rows"));
}

TEST(Dependence, IsTheMeanOfMovedRowsAndKeepsDirections) {
  for (std::uint64_t m = 0; m < effort(30u, 8u); ++m) {
    Random random(m);
    const Predictor predictor(random_model(random));
    const Schema& schema = predictor.model().schema();
    const std::size_t width = predictor.num_cells(), count = 11;
    std::vector<float> rows;
    for (std::size_t r = 0; r < count; ++r) {
      const std::vector<float> row = random_cells(schema, random);
      rows.insert(rows.end(), row.begin(), row.end());
    }
    const std::size_t f = random.below(schema.features.size());
    const std::size_t which = random.below(predictor.num_scores());
    const Dependence curve = partial_dependence(
        predictor, rows, f, {.output = Output::score, .which = which, .points = 9, .threads = 1});
    for (std::size_t c = 0; c < curve.cells.size(); ++c) {
      double sum = 0;
      for (std::size_t r = 0; r < count; ++r) {
        std::vector<float> row(rows.begin() + static_cast<std::ptrdiff_t>(r * width),
                               rows.begin() + static_cast<std::ptrdiff_t>((r + 1) * width));
        row[f] = curve.cells[c];
        std::vector<float> scores(predictor.num_scores());
        predictor.predict(row, scores, Output::score, 1);
        sum += scores[which];
      }
      EXPECT_NEAR(curve.mean[c], sum / count, 1e-9 * std::abs(sum));
      EXPECT_LE(curve.low[c], curve.middle[c]);
      EXPECT_LE(curve.middle[c], curve.high[c]);
      const Monotonicity direction = schema.features[f].monotonicity;
      if (c == 0 || direction == Monotonicity::none || std::isnan(curve.cells[c])) continue;
      EXPECT_LT(curve.cells[c - 1], curve.cells[c]);
      const double sign = direction == Monotonicity::increasing ? 1 : -1;
      EXPECT_GE(sign * curve.mean[c], sign * curve.mean[c - 1]);
      EXPECT_GE(sign * curve.low[c], sign * curve.low[c - 1]);
      EXPECT_GE(sign * curve.high[c], sign * curve.high[c - 1]);
    }
  }
}

TEST(Dependence, RefusesWhatIsNotThere) {
  Random random(5);
  const Predictor predictor(random_one_score_model(random));
  const std::vector<float> row = random_cells(predictor.model().schema(), random);
  const auto error = [&](std::span<const float> rows, std::size_t feature,
                         const DependenceOptions& options) {
    return error_of([&] { partial_dependence(predictor, rows, feature, options); });
  };
  EXPECT_THAT(error(row, 99, {}), testing::HasSubstr("feature 99; the model has"));
  EXPECT_THAT(error(row, 0, {.which = 1}), testing::HasSubstr("output 1; the model has 1"));
  EXPECT_THAT(error({}, 0, {}), testing::HasSubstr("0 cells; wanted"));
  EXPECT_THAT(error(row, 0, {.points = 0}), testing::HasSubstr("wanted a point"));
}

}  // namespace
}  // namespace espalier
