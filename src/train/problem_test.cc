// SPDX-License-Identifier: Apache-2.0
#include "train/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "espalier/train.h"
#include "support/error_of.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kProblemRows = 200;

// y rises with x; weight(row) weighs the rows.
template <class Weight>
Table weighted(Weight&& weight) {
  Random random(1);
  Table table{.name = "t.csv"};
  table.columns = {{.name = "x"}, {.name = "y"}, {.name = "w"}};
  table.num_rows = kProblemRows;
  for (std::size_t row = 0; row < kProblemRows; ++row) {
    const double x = random.uniform();
    table.columns[0].numbers.push_back(static_cast<float>(x));
    table.columns[1].numbers.push_back(static_cast<float>(x + 0.1 * random.normal()));
    table.columns[2].numbers.push_back(static_cast<float>(weight(row)));
  }
  return table;
}

TrainOptions problem_options() {
  return {.label = "y", .increasing = {"x"}, .weight = "w", .epochs = 3, .threads = 1};
}

std::vector<float> predictions(const Table& table, const TrainOptions& options) {
  return train(table, options).model.predict(table);
}

TEST(Memory, IsRefusedBeforeTheFirstStepIfItIsTooLittle) {
  const Table table = weighted([](std::size_t) { return 1; });
  int steps = 0;
  const auto error_with = [&](std::uint64_t memory) {
    const TrainControl control{.progress = [&](const Progress&) { ++steps; }, .memory = memory};
    return error_of([&] { train(table, problem_options(), control); });
  };
  EXPECT_THAT(error_with(std::uint64_t{3} << 20),
              HasSubstr("memory: 3 MB are allowed, but training takes up to 40 MB"));
  EXPECT_EQ(steps, 0);
  EXPECT_EQ(error_with(std::uint64_t{64} << 20), "no error");
}

TEST(Weights, OnlyTheirRatiosCountHoweverLargeOrSmallTheyAre) {
  const auto plain = [](std::size_t row) { return 1.0 + static_cast<double>(row % 3); };
  for (const ClassWeight class_weight : {ClassWeight::none, ClassWeight::balanced}) {
    Table table = weighted(plain);
    TrainOptions chosen = problem_options();
    chosen.class_weight = class_weight;
    if (class_weight == ClassWeight::balanced) {
      for (float& y : table.columns[1].numbers) y = y > 0.7f ? 1.0f : 0.0f;
    }
    const std::vector<float> expected = predictions(table, chosen);
    for (const int exponent : {-149, -100, -7, 1, 100, 126}) {
      Table scaled = table;
      for (float& weight : scaled.columns[2].numbers) weight = std::ldexp(weight, exponent);
      EXPECT_EQ(predictions(scaled, chosen), expected) << "weights times 2^" << exponent;
    }
  }
}

TEST(Weights, OfAnySizeTrainToFiniteNumbers) {
  for (const auto& weights :
       {std::pair(1e-45, 3e38), std::pair(0.0, 3.4e38), std::pair(1e-45, 1e-45)}) {
    const Table table =
        weighted([&](std::size_t row) { return row % 2 == 0 ? weights.first : weights.second; });
    for (const float value : predictions(table, problem_options()))
      EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(Prepare, RefusesATableWithoutUsableRows) {
  const auto error = [](const Table& table, const TrainOptions& options,
                        const TrainControl& control = {}) {
    return error_of([&] { train(table, options, control); });
  };
  const Table plain = weighted([](std::size_t) { return 1; });
  const Table weightless = weighted([](std::size_t) { return 0; });
  EXPECT_THAT(error(weightless, problem_options()),
              HasSubstr("column 'w': the weight is 0 in all 200 rows"));
  EXPECT_THAT(error(plain, problem_options(), {.valid = &weightless}),
              HasSubstr("column 'w': the weight is 0 in all 200 rows"));

  TrainOptions greedy = problem_options();
  greedy.valid_fraction = 0.9;
  EXPECT_THAT(error(take_rows(plain, std::vector<std::uint64_t>{3, 7}), greedy),
              HasSubstr("no row is left to train on"));
}

TEST(Validate, AnEpsilonThatAFloatCannotHoldIsRefusedAndOthersTrain) {
  TrainOptions changed = problem_options();
  const Table table = weighted([](std::size_t) { return 1; });
  for (const double epsilon : {1e-300, 1e-45, 9e-21}) {
    changed.adam_epsilon = epsilon;
    EXPECT_THAT(error_of([&] { validate(changed); }), HasSubstr("adam_epsilon"));
  }
  for (const double epsilon : {1e-20, 1e-8, 1.0}) {
    changed.adam_epsilon = epsilon;
    for (const float value : predictions(table, changed)) EXPECT_TRUE(std::isfinite(value));
  }
}

}  // namespace
}  // namespace espalier
