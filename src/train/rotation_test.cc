// SPDX-License-Identifier: Apache-2.0
#include "train/rotation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "espalier/simulate.h"
#include "espalier/train.h"

namespace espalier {
namespace {

constexpr std::size_t kRotatedRows = 500;

// Loans with a weight that tells every row from the others.
Problem posed_loans(ClassWeight class_weight) {
  Table table = simulate({.rows = kRotatedRows, .seed = 1});
  Column weight{.name = "weight"};
  for (std::size_t r = 0; r < kRotatedRows; ++r)
    weight.numbers.push_back(1 + static_cast<float>(r) / kRotatedRows);
  table.columns.push_back(std::move(weight));
  return pose({.table = table},
              {.label = "default", .weight = "weight", .class_weight = class_weight}, {});
}

LargeVector<float> sorted_weights(const Dataset& data) {
  LargeVector<float> weights = data.weights();
  std::sort(weights.begin(), weights.end());
  return weights;
}

TEST(Rotation, EveryRowIsHeldOutOnceByFiveNetworksAndTrainedOnByTheOthers) {
  const Problem problem = posed_loans(ClassWeight::none);
  const Rotation rotation(problem);
  std::map<float, int> held, trained;
  for (int network = 1; network <= 5; ++network) {
    const Problem part = rotation.part(network);
    EXPECT_EQ(part.valid.num_rows, kRotatedRows / 5);
    EXPECT_EQ(part.train.num_rows, kRotatedRows - kRotatedRows / 5);
    EXPECT_EQ(part.train.cells.size(), part.train.num_rows * part.train.num_features);
    for (const float weight : part.valid.weights()) ++held[weight];
    for (const float weight : part.train.weights()) ++trained[weight];
  }
  EXPECT_EQ(held.size(), kRotatedRows);
  for (const auto& [weight, count] : held) EXPECT_EQ(count, 1);
  for (const auto& [weight, count] : trained) EXPECT_EQ(count, 4);
  EXPECT_EQ(sorted_weights(rotation.part(1).valid), sorted_weights(problem.valid));
}

TEST(Rotation, CellsAndLabelsStayWithTheirRow) {
  const Problem problem = posed_loans(ClassWeight::none);
  std::map<float, std::vector<float>> rows;
  const auto cells_of = [](const Dataset& data, std::size_t r) {
    std::vector<float> cells(data.row(r), data.row(r) + data.num_features);
    cells.push_back(data.labels[r]);
    return cells;
  };
  for (const Dataset* data : {&problem.train, &problem.valid}) {
    for (std::size_t r = 0; r < data->num_rows; ++r) rows[data->weights()[r]] = cells_of(*data, r);
  }
  const Problem part = Rotation(problem).part(3);
  for (const Dataset* data : {&part.train, &part.valid}) {
    for (std::size_t r = 0; r < data->num_rows; ++r)
      ASSERT_EQ(cells_of(*data, r), rows[data->weights()[r]]);
  }
}

TEST(Rotation, OnlyTrainingRowsAreBalanced) {
  const Problem unbalanced = posed_loans(ClassWeight::none);
  const Problem plain = Rotation(unbalanced).part(2);
  const Problem problem = posed_loans(ClassWeight::balanced);
  const Problem balanced = Rotation(problem).part(2);
  for (std::size_t r = 0; r < plain.valid.num_rows; ++r)
    ASSERT_NEAR(balanced.valid.weights()[r], plain.valid.weights()[r], 1e-6);
  for (std::size_t r = 0; r < plain.train.num_rows; ++r) {
    const float scale = problem.class_scale[plain.train.labels[r] > 0 ? 1 : 0];
    ASSERT_NEAR(balanced.train.weights()[r], scale * plain.train.weights()[r], 1e-5);
  }
}

TEST(Rotation, AnEnsembleIsJudgedOnEveryRowByNetworksThatHaveNotSeenIt) {
  const Table loans = simulate({.rows = kRotatedRows, .seed = 1});
  // Enough epochs to learn the rows by heart, were they not held out.
  const TrainOptions options = {.label = "default",
                                .architecture = "cal(100) lin(100) cal(10) lat(20x5) lin(1)",
                                .ensemble = 5,
                                .epochs = 60,
                                .learning_rate = 0.05};
  const TrainResult result = train(loans, options);
  EXPECT_EQ(result.valid_rows, kRotatedRows);
  const auto log_loss = [](const std::vector<MetricValue>& values) {
    for (const MetricValue& value : values) {
      if (value.metric == Metric::log_loss) return value.value;
    }
    return std::nan("");
  };
  const double valid_rows = log_loss(result.valid_metrics);
  EXPECT_GT(valid_rows, log_loss(evaluate(result.model, loans).metrics) + 0.02);
  double mean = 0;
  for (const Epoch& best : result.best) mean += best.valid_metric / 5;
  EXPECT_NEAR(valid_rows, mean, 1e-6);
}

}  // namespace
}  // namespace espalier
