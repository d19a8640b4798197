// SPDX-License-Identifier: Apache-2.0
// Every preset learns, small or at the sizes of the paper's tables: on a table whose truth bends,
// where the deep lattice network beats the linear model, all of them do.
#include <gtest/gtest.h>

#include <algorithm>

#include "espalier/simulate.h"
#include "espalier/train.h"

namespace espalier {
namespace {

// The true risk itself is the label.
Table true_risks(std::int64_t rows) {
  Table table = simulate({.rows = rows, .missing = 0, .truth = true, .seed = 3});
  std::erase_if(table.columns, [](const Column& column) { return column.name == "default"; });
  return table;
}

// The share of the variance that a model explains on rows that it was not trained on; 0 is that of
// a constant.
double explained(const Table& table, const std::string& architecture) {
  const TrainResult result = train(table, {.label = "true_risk",
                                           .increasing = {"debt_ratio", "late_payments"},
                                           .decreasing = {"income", "years_employed"},
                                           .interactions = {"none"},
                                           .architecture = architecture,
                                           .ensemble = 1,
                                           .epochs = 25});
  const auto r2 = std::ranges::find(result.valid_metrics, Metric::r2, &MetricValue::metric);
  return r2->value;
}

void expect_better_than_linear(const Table& table,
                               std::initializer_list<const char*> architectures) {
  const double linear = explained(table, "lin(1)");
  EXPECT_GT(linear, 0.5);
  for (const char* architecture : architectures)
    EXPECT_GT(explained(table, architecture), linear + 0.02) << architecture;
}

TEST(BeatsLinear, EveryPresetAtSmallSizes) {
  expect_better_than_linear(
      true_risks(3000), {"dln(8x3)", "dln-paper(8x3)", "dln-lattice(4x3)", "dln-one-lattice(1x4)",
                         "calibrated-linear", "calibrated-lattice", "random-lattices(8x3)",
                         "crystals(8x3)", "min-max(8x3)", "monotonic-dnn", "monotonic-dnn(5x20)"});
}

TEST(LongBeatsLinear, EveryPresetAtThePapersSizes) {
  expect_better_than_linear(
      true_risks(6000),
      {"dln(70x5)", "dln(50x9)", "dln-paper(70x5)", "dln-paper(30x5)", "dln-lattice(5x10)",
       "dln-one-lattice(1x10)", "crystals(60x4)", "crystals(80x7)", "min-max(70x9)",
       "min-max(90x7)", "min-max(100x5)", "min-max(70x6)", "min-max(10x5)", "monotonic-dnn(2x50)",
       "monotonic-dnn(3x50)", "monotonic-dnn(2x100)", "monotonic-dnn(5x100)",
       "monotonic-dnn(1x1000)"});
}

// From 20,000 rows on other rates are chosen.
TEST(LongBeatsLinear, NetworksWithoutTablesWithManyRows) {
  expect_better_than_linear(true_risks(30000),
                            {"min-max(100x5)", "monotonic-dnn(2x50)", "monotonic-dnn(1x1000)"});
}

// So few rows do not take twenty layers past the linear model, but they are no constant.
TEST(LongBeatsLinear, TwentyLayersTrain) {
  EXPECT_GT(explained(true_risks(6000), "monotonic-dnn(20x100)"), 0.5);
}

}  // namespace
}  // namespace espalier
