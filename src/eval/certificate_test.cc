// SPDX-License-Identifier: Apache-2.0
// The search for pairs that break monotonicity: it finds none through the predictor, and it does
// find them where they are.
#include "espalier/certificate.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "encode/encode.h"
#include "espalier/predictor.h"
#include "espalier/simulate.h"
#include "espalier/train.h"
#include "eval/counter_examples.h"
#include "support/effort.h"
#include "support/random_model.h"

namespace espalier {
namespace {

const std::uint64_t kModels = effort<std::uint64_t>(60, 12);
const std::size_t kPairs = effort(40'000, 2'000);

// The evaluation of training: the same network in plain float32.
RowFunction plain_function(const Model& model) {
  struct State {
    explicit State(const Model& m) : model(m), scratch(m.data().members[0].network()) {}
    Model model;
    Network::Scratch scratch;
  };
  const auto state = std::make_shared<State>(model);
  return [state](std::span<const float> rows, std::span<float> out) {
    const Schema& schema = state->model.schema();
    const Label& label = schema.label;
    const std::size_t num_rows = out.size() / label.num_scores(), width = rows.size() / num_rows;
    for (std::size_t at = 0; at < num_rows * label.num_levels(); at += kTile) {
      const std::size_t count = std::min<std::size_t>(kTile, out.size() - at);
      for (std::size_t r = 0; r < count; ++r) {
        const std::size_t place = (at + r) / label.num_levels() * width;
        const std::vector<double> row =
            encoded_row(schema, rows.subspan(place, width), (at + r) % label.num_levels());
        for (std::size_t i = 0; i < row.size(); ++i)
          state->scratch.input()[i * kTile + r] = static_cast<float>(row[i]);
      }
      const float* result = state->model.data().members[0].network().forward(state->scratch);
      std::copy_n(result, count, out.data() + at);
    }
  };
}

// Hunts through `models` random models; the plain evaluation gets a tenth of the pairs.
void search_random_architectures(int models, std::size_t pairs_each) {
  ThreadPool pool(0);
  CounterExamples plain;
  std::size_t pairs = 0;
  for (int seed = 1; seed <= models; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const Model model = random_model(random);
    const Certificate proof = verify(model, {.pairs = pairs_each, .seed = 7});
    pairs += proof.pairs;
    ASSERT_EQ(proof.pairs, pairs_each);
    ASSERT_TRUE(proof.holds()) << model.architecture() << ": " << proof.culprits.front();
    const CounterExamples result = find_counter_examples(
        model.schema(), [&] { return plain_function(model); }, pairs_each / 10, Random(7), pool);
    plain.pairs += result.pairs;
    plain.violations += result.violations;
    plain.largest_drop = std::max(plain.largest_drop, result.largest_drop);
  }
  // The same kinds of pairs do catch an evaluation that only rounds: about one in five thousand.
  if (plain.pairs > 100'000) {
    EXPECT_GT(plain.violations, 0u);
  }
  std::printf("predictor: %zu pairs, 0 fell; plain float32: %zu pairs, %zu fell, by up to %g\n",
              pairs, plain.pairs, plain.violations, plain.largest_drop);
}

void search_trained_models(std::size_t pairs_each) {
  const Table table = simulate({.rows = 1000, .seed = 3});
  for (const char* architecture : {"dln", "calibrated-linear", "random-lattices",
                                   "cal(20) lin(24) cal(10) lat(8x3,simplex) cal(5) lin(1)"}) {
    TrainOptions options = {.label = "default",
                            .increasing = {"debt_ratio", "late_payments"},
                            .decreasing = {"income"}};
    options.architecture = architecture;
    options.epochs = 3;
    const Certificate proof = verify(train(table, options).model, {.pairs = pairs_each});
    EXPECT_EQ(proof.pairs, pairs_each);
    EXPECT_TRUE(proof.holds()) << architecture << ": " << proof.culprits.front();
  }
}

// 60 architectures of 40,000 pairs and four trained models of 50,000: 2.6 million.
TEST(Verify, FindsNoFallOverRandomArchitectures) { search_random_architectures(kModels, kPairs); }
TEST(Verify, FindsNoFallInTrainedModels) { search_trained_models(kPairs * 5 / 4); }

// 900 million and 100 million pairs.
TEST(LongVerify, FindsNoFallInAThousandMillionPairs) {
  search_random_architectures(120, 7'500'000);
  search_trained_models(25'000'000);
}

// Probabilities of classes keep their promises, and the counter-example search sees promises that
// are negated.
TEST(Verify, FindsNoClassThatMovesAgainstItsDirection) {
  ThreadPool pool(2);
  int seen = 0;
  for (std::uint64_t seed = 1; seed <= kModels / 4 + 4; ++seed) {
    Random random(seed);
    const Model model = random_model_of_classes(random);
    const Certificate proof = verify(model, {.pairs = kPairs / 4, .seed = 7});
    ASSERT_EQ(proof.pairs, kPairs / 4);
    ASSERT_TRUE(proof.holds()) << model.architecture() << ": " << proof.culprits.front();
    const Predictor predictor(model);
    const auto make = [&]() -> RowFunction {
      return [&, scratch = std::make_shared<Predictor::Scratch>(predictor)](
                 std::span<const float> rows, std::span<float> out) {
        predictor.predict(rows, out, *scratch);
      };
    };
    std::vector<int> turned;
    for (const Monotonicity promise : model.schema().label.promises)
      turned.push_back(promise == Monotonicity::increasing   ? -1
                       : promise == Monotonicity::decreasing ? 1
                                                             : 0);
    seen +=
        find_counter_examples(model.schema(), make, 500, Random(1), pool, {}, turned).violations > 0
            ? 1
            : 0;
  }
  EXPECT_GT(seen, 2);  // a network may be flat
}

// Levels in the wrong order cross in every row in which they differ.
TEST(Hunt, FindsLevelsThatCross) {
  ThreadPool pool(2);
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const Model model = random_model(random);
    if (model.num_scores() == 1) continue;
    const Predictor predictor(model);
    for (const bool turned : {false, true}) {
      const auto make = [&]() -> RowFunction {
        return [&, turned, scratch = std::make_shared<Predictor::Scratch>(predictor)](
                   std::span<const float> rows, std::span<float> out) {
          predictor.predict(rows, out, *scratch, Output::score);
          for (std::size_t at = 0; turned && at < out.size(); at += model.num_scores())
            std::ranges::reverse(out.subspan(at, model.num_scores()));
        };
      };
      const CounterExamples result =
          find_counter_examples(model.schema(), make, 1000, Random(1), pool);
      EXPECT_TRUE(turned || result.crossings == 0) << model.architecture();
      EXPECT_EQ(result.violations, 0u);
      found += result.crossings > 0 ? 1 : 0;  // a network may be flat
    }
  }
  EXPECT_GE(found, 10);
}

// Some networks are flat, and trees mostly are; the score of this one often moves along the columns
// that must raise it.
Model lively_model() {
  for (Random random(1);;) {
    Model model = random_one_score_model(random);
    const Predictor predictor(model);
    ThreadPool pool(1);
    double largest_rise = 0;
    int chains = 0, rises = 0;
    const auto watch = [&]() -> RowFunction {
      return [&, scratch = std::make_shared<Predictor::Scratch>(predictor)](
                 std::span<const float> rows, std::span<float> out) {
        predictor.predict(rows, out, *scratch, Output::score);
        largest_rise = std::max<double>(largest_rise, out.back() - out.front());
        ++chains;
        rises += out.back() > out.front() ? 1 : 0;
      };
    };
    find_counter_examples(model.schema(), watch, 2000, Random(1), pool);
    if (largest_rise > 0.1 && 2 * rises > chains) return model;
  }
}

// Turning the direction of an input round makes every rise a fall.
TEST(Hunt, FindsTheFallsOfAModelThatIsNotMonotone) {
  const Model model = lively_model();
  const Predictor predictor(model);
  ThreadPool pool(2);
  const auto negated = [&]() -> RowFunction {
    return [&, scratch = std::make_shared<Predictor::Scratch>(predictor)](
               std::span<const float> rows, std::span<float> out) {
      predictor.predict(rows, out, *scratch, Output::score);
      for (float& value : out) value = -value;
    };
  };
  const CounterExamples result =
      find_counter_examples(model.schema(), negated, 10'000, Random(1), pool);
  EXPECT_EQ(result.pairs, 10'000u);
  EXPECT_GT(result.violations, 500u);
  EXPECT_GT(result.largest_drop, 0.001);
  ASSERT_FALSE(result.culprits.empty());
  EXPECT_NE(result.culprits.front().find("the prediction falls from"), std::string::npos);
}

// Of several scores each must be monotone, wherever it stands.
TEST(Hunt, FindsTheFallOfOneScoreAmongSeveral) {
  constexpr std::size_t kScores = 3;
  const Model model = lively_model();
  Schema schema = model.schema();
  schema.label = {.name = "y", .loss = Loss::log_loss, .classes = {"a", "b", "c"}};
  const Predictor predictor(model);
  ThreadPool pool(2);
  for (const std::size_t falling : {0, 1, 2, 3}) {
    const auto several = [&]() -> RowFunction {
      return [&, falling, scratch = std::make_shared<Predictor::Scratch>(predictor)](
                 std::span<const float> rows, std::span<float> out) {
        std::vector<float> scores(out.size() / kScores);
        predictor.predict(rows, scores, *scratch, Output::score);
        for (std::size_t i = 0; i < out.size(); ++i)
          out[i] = i % kScores == falling ? -scores[i / kScores] : scores[i / kScores];
      };
    };
    const CounterExamples result = find_counter_examples(schema, several, 2000, Random(1), pool);
    EXPECT_EQ(result.pairs, 2000u);
    EXPECT_EQ(result.violations > 0, falling < kScores) << falling;
  }
}

TEST(Hunt, TriesTheSamePairsForAnyNumberOfThreads) {
  Random random(2);
  const Model model = random_model(random);
  std::vector<CounterExamples> results;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    results.push_back(find_counter_examples(
        model.schema(), [&] { return plain_function(model); }, 200'000, Random(5), pool));
  }
  EXPECT_EQ(results[0].violations, results[1].violations);
  EXPECT_EQ(results[0].culprits, results[1].culprits);
  EXPECT_EQ(results[0].largest_drop, results[1].largest_drop);
}

TEST(Verify, TriesNoPairsWhereNothingMustBeMonotone) {
  Random random(4);
  auto data = std::make_shared<ModelData>();
  data->schema = random_schema(random);
  for (Feature& feature : data->schema.features) feature.monotonicity = Monotonicity::none;
  data->schema.label = {.name = "y"};
  data->training_json = "{}";
  data->members.push_back(random_network(data->schema, data->calibrators, random));
  EXPECT_EQ(verify(Model(std::move(data)), {.pairs = 1000}).pairs, 0u);
}

}  // namespace
}  // namespace espalier
