// SPDX-License-Identifier: Apache-2.0
#include "eval/tree_thresholds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "core/float_rank.h"
#include "espalier/certificate.h"
#include "espalier/predictor.h"
#include "eval/counter_examples.h"
#include "model/model_data.h"
#include "support/effort.h"
#include "support/random_model.h"

namespace espalier {
namespace {

// A member of trees alone whose leaves are random numbers: every split changes the score.
Model model_of_trees(Random& random) {
  auto data = std::make_shared<ModelData>();
  data->schema = random_schema(random);
  while (data->schema.label.num_outputs() != 1) data->schema = random_schema(random);
  data->schema.beside.clear();  // an infinite offset would hide every step
  data->training_json = "{}";
  Network network = random_trees(data->schema, data->calibrators, random.split(1));
  constexpr int kTables = 1, kTrees = 2;  // layers
  set_forest_tables(network.layer(kTables), random,
                    network.params().data() + network.offset(kTables));
  float* leaves = network.params().data() + network.offset(kTrees);
  for (std::size_t i = 0; i < network.layer(kTrees).num_params(); ++i)
    leaves[i] = static_cast<float>(random.normal());
  data->members.push_back(forest_of(network, data->schema).value());
  return Model(std::move(data));
}

// Whether the step changes a score of the row.
bool shows(const Predictor& predictor, const ThresholdStep& step, std::vector<float> row) {
  Predictor::Scratch scratch(predictor);
  std::vector<float> before(predictor.num_scores()), after(predictor.num_scores());
  row[step.feature] = step.cells[1];
  predictor.predict(row, before, scratch, Output::score);
  row[step.feature] = step.cells[2];
  predictor.predict(row, after, scratch, Output::score);
  return before != after;
}

// Whether the same two cells lie about the threshold of another split, as where a feature is a
// word.
bool is_shared(const TreeThresholds& thresholds, std::size_t split) {
  const ThresholdStep own = thresholds.step(split);
  for (std::size_t i = 0; i < thresholds.size(); ++i) {
    const ThresholdStep other = thresholds.step(i);
    if (i != split && other.feature == own.feature && other.cells[1] == own.cells[1]) return true;
  }
  return false;
}

TEST(TreeThresholds, StepsAreNeighborsInTheRisingDirection) {
  Random random(1);
  std::size_t seen = 0;
  for (int m = 0; m < effort(60, 10); ++m) {
    const Model model = model_of_trees(random);
    const TreeThresholds thresholds(model);
    for (std::size_t i = 0; i < thresholds.size(); ++i, ++seen) {
      const ThresholdStep step = thresholds.step(i);
      const Feature& feature = model.schema().features[step.feature];
      ASSERT_NE(feature.monotonicity, Monotonicity::none);
      const int up = feature.monotonicity == Monotonicity::increasing ? 1 : -1;
      const auto place = [&](float cell) {
        return feature.kind == FeatureKind::number ? rank_of(cell)
                                                   : static_cast<std::int64_t>(cell);
      };
      ASSERT_EQ(place(step.cells[2]) - place(step.cells[1]), up);
      const std::int64_t below = place(step.cells[1]) - place(step.cells[0]);
      ASSERT_TRUE(below == up || (feature.kind == FeatureKind::ordered && below == 0));
    }
  }
  EXPECT_GT(seen, 50u);
}

// A step that changes no score where its row was led changes none in other rows either: no row
// reaches the split, as one of a path that asks for both sides of a threshold.
TEST(TreeThresholds, EveryStepThatARowCanShowIsShown) {
  Random random(2);
  std::size_t shown = 0;
  for (int m = 0; m < effort(30, 10); ++m) {
    const Model model = model_of_trees(random);
    const TreeThresholds thresholds(model);
    const Predictor predictor(model);
    for (std::size_t i = 0; i < thresholds.size(); ++i) {
      std::vector<float> row = random_cells(model.schema(), random);
      thresholds.lead_to(i, row);
      if (shows(predictor, thresholds.step(i), row)) {
        ++shown;
        continue;
      }
      if (is_shared(thresholds, i)) continue;
      for (int other = 0; other < effort(100, 30); ++other) {
        ASSERT_FALSE(shows(predictor, thresholds.step(i), random_cells(model.schema(), random)))
            << model.architecture();
      }
    }
  }
  EXPECT_GT(shown, static_cast<std::size_t>(effort(500, 100)));
}

// Tables of values from 0 to 1 give multiples of this.
constexpr std::uint64_t kUnits = std::uint64_t{1} << 23;
constexpr float kUnit = 0x1p-23f;

// Trees whose order is broken in a few floats of x, for rows of high z with some words: the leaf
// between two neighboring thresholds is lower than the one before.
Model planted(Monotonicity direction, std::size_t categories, float threshold) {
  auto data = std::make_shared<ModelData>();
  Feature x{.name = "x", .kind = FeatureKind::number, .monotonicity = direction};
  Feature z{.name = "z", .kind = FeatureKind::number};
  x.keypoints = z.keypoints = {0, 1};
  Feature category{.name = "word", .kind = FeatureKind::category};
  for (std::size_t w = 0; w < categories; ++w) {
    category.categories.push_back(fmt::format("word {}", w));
    category.shares.push_back(1 / static_cast<float>(categories));
  }
  data->schema = {.features = {x, z, category}, .label = {.name = "y", .offsets = {0}}};
  data->training_json = "{}";
  const float next = threshold + kUnit;
  LayerSpec trees{.kind = LayerKind::tree,
                  .nodes = {{1, 0.9f}, {}, {2, 0.5f}, {}, {0, threshold}, {}, {0, next}, {}, {}}};
  LayerSpec gather{.kind = LayerKind::gather, .wires = {0, 1, 2}};
  Network network({{gather, {.kind = LayerKind::cal, .keypoints = 2}, trees, {LayerKind::sum}}},
                  input_wires(data->schema), data->calibrators, Random(0));
  const std::span<float> params = network.params();
  std::ranges::fill(params, 0.0f);
  params[1] = params[3] = 1;       // x and z as they are
  params[4 + categories / 2] = 1;  // one of the words
  const float leaves[] = {0, 0, 0, -1, 1};
  std::ranges::copy(leaves, params.end() - std::ssize(leaves));
  data->members.push_back(forest_of(network, data->schema).value());
  return Model(std::move(data));
}

TEST(TreeThresholds, TheSearchFindsAFallThatOneThresholdShows) {
  ThreadPool pool(2);
  Random random(3);
  for (int d = 0; d < effort(10, 4); ++d) {
    const Monotonicity direction = d % 2 == 0 ? Monotonicity::increasing : Monotonicity::decreasing;
    const float threshold = kUnit * static_cast<float>(1 + random.below(kUnits - 2));
    const Model model = planted(direction, 2 + random.below(40), threshold);
    ASSERT_FALSE(verify(model).holds());  // the proof sees it, and is passed over here
    const Predictor predictor(model);
    const auto make = [&]() -> RowFunction {
      return [&, scratch = std::make_shared<Predictor::Scratch>(predictor)](
                 std::span<const float> rows, std::span<float> out) {
        predictor.predict(rows, out, *scratch, Output::score);
      };
    };
    const TreeThresholds thresholds(model);
    const auto search = [&](const TreeThresholds& crossed) {
      return find_counter_examples(model.schema(), make, 10'000, Random(1), pool, {}, {}, crossed);
    };
    EXPECT_EQ(search({}).violations, 0u);
    const CounterExamples found = search(thresholds);
    EXPECT_EQ(found.thresholds_crossed, 2u);
    EXPECT_GE(found.violations, 1u) << static_cast<double>(threshold);
    EXPECT_EQ(found.largest_drop, 1);
    EXPECT_EQ(found.pairs, 10'000u);
  }
}

TEST(TreeThresholds, AreAllCrossedUnlessThePairsAreTooFew) {
  Random random(4);
  std::size_t models = 0;
  for (int m = 0; m < effort(40, 10); ++m) {
    const Model model = random_model(random);
    const std::size_t count = TreeThresholds(model).size();
    models += count > 0 ? 1 : 0;
    for (const std::size_t pairs : {std::size_t{16}, 8 * count + 16}) {
      const Certificate proof = verify(model, {.pairs = pairs});
      EXPECT_EQ(proof.pairs, pairs);
      EXPECT_EQ(proof.thresholds, count);
      EXPECT_EQ(proof.thresholds_crossed, std::min<std::size_t>(count, pairs / 8));
      EXPECT_TRUE(proof.holds());
    }
  }
  EXPECT_GT(models, 2u);
}

}  // namespace
}  // namespace espalier
