// SPDX-License-Identifier: Apache-2.0
// Every preset learns, small or at the sizes of the paper's tables: on tables whose truth bends,
// where the deep lattice network beats the linear model and so the constant, all of them do.
#include <gtest/gtest.h>

#include <algorithm>

#include "espalier/simulate.h"
#include "espalier/train.h"
#include "support/effort.h"

namespace espalier {
namespace {

// The truth itself is the label.
struct TrueTable {
  Table table;
  std::string label;
};

TrueTable true_table(std::int64_t rows, SimulatedKind kind = SimulatedKind::loans) {
  constexpr const char* kDrawn[] = {"default", "exposure", "claims", "cost", "interest", "grade"};
  Table table = simulate({.kind = kind, .rows = rows, .missing = 0, .truth = true, .seed = 3});
  std::erase_if(table.columns,
                [&](const Column& column) { return std::ranges::count(kDrawn, column.name) > 0; });
  const std::string label = table.columns.back().name;
  return {std::move(table), label};
}

// The share of the variance that a model explains on rows that it was not trained on; 0 is that of
// a constant.
double explained(const TrueTable& truth, const std::string& architecture) {
  const TrainResult result = train(truth.table, {.label = truth.label,
                                                 .increasing = {"debt_ratio", "late_payments"},
                                                 .decreasing = {"income", "years_employed"},
                                                 .task = Task::regression,
                                                 .interactions = {"none"},
                                                 .architecture = architecture,
                                                 .ensemble = 1,
                                                 .epochs = 25});
  const auto r2 = std::ranges::find(result.valid_metrics, Metric::r2, &MetricValue::metric);
  return r2->value;
}

void expect_better_than_linear(const TrueTable& truth,
                               std::initializer_list<const char*> architectures) {
  const double linear = explained(truth, "lin(1)");
  EXPECT_GT(linear, 0.3) << truth.label;
  for (const char* architecture : architectures)
    EXPECT_GT(explained(truth, architecture), linear + 0.02) << truth.label << ' ' << architecture;
}

TEST(BeatsLinear, EveryPresetAtSmallSizes) {
  if (effort(false, true)) GTEST_SKIP() << "sanitizers do not evaluate quality";
  expect_better_than_linear(
      true_table(3000),
      {"dln(8x3)", "dln-paper(8x3)", "dln-lattice(4x3)", "dln-one-lattice(1x4)",
       "calibrated-linear", "calibrated-lattice", "random-lattices(8x3)", "crystals(8x3)",
       "min-max(8x3)", "min-max-calibrated(8x3)", "monotonic-dnn", "monotonic-dnn(5x20)",
       "monotonic-dnn(20x10)", "monotonic-dnn-calibrated"});
}

constexpr SimulatedKind kTables[] = {SimulatedKind::loans, SimulatedKind::claims};

TEST(LongBeatsLinear, EveryPresetAtThePapersSizes) {
  for (const SimulatedKind kind : kTables) {
    expect_better_than_linear(true_table(6000, kind), {"dln(70x5)",
                                                       "dln(50x9)",
                                                       "dln-paper(70x5)",
                                                       "dln-paper(30x5)",
                                                       "dln-lattice(5x10)",
                                                       "dln-one-lattice(1x10)",
                                                       "crystals(60x4)",
                                                       "crystals(80x7)",
                                                       "min-max(70x9)",
                                                       "min-max(90x7)",
                                                       "min-max(100x5)",
                                                       "min-max(70x6)",
                                                       "min-max(10x5)",
                                                       "min-max-calibrated(70x9)",
                                                       "min-max-calibrated(100x5)",
                                                       "monotonic-dnn(2x50)",
                                                       "monotonic-dnn(3x50)",
                                                       "monotonic-dnn(2x100)",
                                                       "monotonic-dnn(5x100)",
                                                       "monotonic-dnn(1x1000)",
                                                       "monotonic-dnn(20x100)",
                                                       "monotonic-dnn-calibrated(1x1000)",
                                                       "monotonic-dnn-calibrated(20x100)"});
  }
}

// From 20,000 rows on other rates are chosen.
TEST(LongBeatsLinear, NetworksWithoutTablesWithManyRows) {
  for (const SimulatedKind kind : kTables) {
    expect_better_than_linear(true_table(30000, kind),
                              {"min-max(100x5)", "monotonic-dnn(2x50)", "monotonic-dnn(1x1000)",
                               "monotonic-dnn(20x100)"});
  }
}

}  // namespace
}  // namespace espalier
