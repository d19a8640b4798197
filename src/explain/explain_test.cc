// SPDX-License-Identifier: Apache-2.0
// What holds for the shares of every model, row and baseline.
#include "espalier/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/random.h"
#include "espalier/outputs.h"
#include "espalier/predictor.h"
#include "explain/target.h"
#include "support/effort.h"
#include "support/error_of.h"
#include "support/random_model.h"

namespace espalier {
namespace {

const int kModels = effort(60, 12);

// Classes without an order: they have no directions.
Model random_class_model(Random& random) {
  auto data = std::make_shared<ModelData>();
  data->schema = random_schema(random);
  for (Feature& feature : data->schema.features) feature.monotonicity = Monotonicity::none;
  data->schema.beside.clear();
  data->schema.label = {.name = "label", .loss = Loss::log_loss, .classes = {"a", "b", "c"}};
  data->schema.label.offsets = {0.3, -0.2, 0.1};
  data->training_json = "{}";
  const Random wiring = random.split(1);
  data->members.push_back(random_network(data->schema, data->calibrators,
                                         "cal(5) lin(4) cal(6) lat(2x2) lin(3)", wiring, random));
  return Model(std::move(data));
}

Model any_model(Random& random) {
  const double kind = random.uniform();
  if (kind < 0.1) return random_class_model(random);
  return kind < 0.2 ? random_model_of_classes(random) : random_model(random);
}

std::vector<float> random_baseline(const Schema& schema, Random& random) {
  std::vector<float> baseline = random_cells(schema, random);
  baseline.resize(schema.features.size());
  return baseline;
}

// Of a row by definition: through raw cells, one row at a time.
class Definition {
 public:
  Definition(const Predictor& predictor, std::span<const float> row,
             std::span<const float> baseline, const Target& target)
      : predictor_(predictor), row_(row), baseline_(baseline), target_(target) {}

  double value(const std::vector<bool>& is_of_row) const {
    std::vector<float> cells(row_.begin(), row_.end());
    for (std::size_t f = 0; f < baseline_.size(); ++f) {
      if (!is_of_row[f]) cells[f] = baseline_[f];
    }
    std::vector<float> scores(predictor_.num_scores());
    Predictor::Scratch scratch(predictor_);
    EXPECT_TRUE(predictor_.predict(cells, scores, scratch, Output::score));
    return target_.value(scores);
  }

  std::vector<double> shares() const {
    std::vector<std::size_t> order(baseline_.size());
    for (std::size_t f = 0; f < order.size(); ++f) order[f] = f;
    std::vector<double> sums(order.size());
    double orders = 0;
    do {
      std::vector<bool> is_of_row(order.size());
      double before = value(is_of_row);
      for (const std::size_t f : order) {
        is_of_row[f] = true;
        const double after = value(is_of_row);
        sums[f] += after - before;
        before = after;
      }
      ++orders;
    } while (std::ranges::next_permutation(order).found);
    for (double& sum : sums) sum /= orders;
    return sums;
  }

 private:
  const Predictor& predictor_;
  std::span<const float> row_, baseline_;
  Target target_;
};

double tolerance(const Explanation& why, std::size_t row) {
  return 1e-6 * (std::abs(why.scores[row]) + std::abs(why.baselines[row]) + 1e-30);
}

TEST(Explain, SharesSumToTheDifference) {
  for (int m = 0; m < kModels; ++m) {
    Random random(static_cast<std::uint64_t>(m));
    const Predictor predictor(any_model(random));
    const Schema& schema = predictor.model().schema();
    const std::vector<float> rows = random_rows(schema, 5, random);
    const std::vector<float> baseline = random_baseline(schema, random);
    for (const int exact : {16, 0}) {
      const Explanation why = explain(predictor, rows, baseline,
                                      {.exact_columns = exact, .permutations = 6, .threads = 1});
      ASSERT_EQ(why.num_rows, 5u);
      for (std::size_t r = 0; r < why.num_rows; ++r) {
        double sum = 0;
        for (const double share : why.shares_of(r)) sum += share;
        const double difference = static_cast<double>(why.scores[r]) - why.baselines[r];
        EXPECT_NEAR(sum, difference, tolerance(why, r)) << "model " << m << " row " << r;
        for (const double error : why.errors_of(r)) {
          EXPECT_GE(error, 0);
          EXPECT_TRUE(exact == 0 || error == 0);
        }
      }
    }
  }
}

TEST(Explain, ExactSharesAreThoseOfTheDefinition) {
  int tried = 0;
  for (std::uint64_t m = 0; tried < effort(12, 3); ++m) {
    Random random(m);
    const Predictor predictor(any_model(random));
    const Schema& schema = predictor.model().schema();
    if (schema.features.size() > 5) continue;
    ++tried;
    const std::vector<float> row = random_cells(schema, random);
    const std::vector<float> baseline = random_baseline(schema, random);
    const std::vector<std::string> names = output_names(schema.label);
    const std::size_t output = random.below(names.size());
    const Explanation why = explain(predictor, row, baseline, {.output = names[output]});
    EXPECT_EQ(why.outputs[0], output);
    const Definition wanted(predictor, row, baseline, {output, schema.label.has_many_classes()});
    const std::vector<double> shares = wanted.shares();
    for (std::size_t f = 0; f < shares.size(); ++f)
      EXPECT_NEAR(why.shares[f], shares[f], 1e-12 + 1e-9 * std::abs(shares[f])) << "model " << m;
    EXPECT_EQ(why.scores[0],
              static_cast<float>(wanted.value(std::vector<bool>(schema.features.size(), true))));
  }
}

TEST(Explain, PermutationsComeAsNearAsTheirErrorSays) {
  int tried = 0;
  for (std::uint64_t m = 0; tried < effort(10, 2); ++m) {
    Random random(m);
    const Predictor predictor(any_model(random));
    const std::vector<float> rows = random_rows(predictor.model().schema(), 2, random);
    const std::vector<float> baseline = random_baseline(predictor.model().schema(), random);
    const Explanation exact = explain(predictor, rows, baseline);
    const Explanation drawn =
        explain(predictor, rows, baseline, {.exact_columns = 0, .permutations = 2400, .seed = m});
    for (std::size_t i = 0; i < exact.shares.size(); ++i) {
      EXPECT_NEAR(drawn.shares[i], exact.shares[i],
                  6 * drawn.errors[i] + tolerance(exact, i / exact.num_columns))
          << "model " << m;
    }
    ++tried;
  }
}

TEST(Explain, AColumnLikeTheBaselineGetsNothing) {
  Random random(3);
  for (int m = 0; m < kModels; ++m) {
    const Predictor predictor(any_model(random));
    const Schema& schema = predictor.model().schema();
    std::vector<float> row = random_cells(schema, random);
    const std::vector<float> baseline = random_baseline(schema, random);
    const std::size_t same = random.below(schema.features.size());
    row[same] = baseline[same];
    for (const int exact : {16, 0}) {
      const Explanation why = explain(predictor, row, baseline, {.exact_columns = exact});
      EXPECT_EQ(why.shares[same], 0);
    }
  }
}

// A rising chain of cells of a monotone feature: neighbours of floats, keypoints, far ones.
std::vector<float> chain_of(const Feature& feature, Random& random) {
  std::vector<float> chain;
  if (feature.kind == FeatureKind::ordered) return {0, 1, 2};
  const float middle =
      random.uniform() < 0.5
          ? feature.keypoints[random.below(feature.keypoints.size())]
          : static_cast<float>(feature.keypoints.front() +
                               random.uniform() * (static_cast<double>(feature.keypoints.back()) -
                                                   feature.keypoints.front()));
  const float below = std::nextafter(middle, -INFINITY), above = std::nextafter(middle, INFINITY);
  chain = {-INFINITY, below, middle, above, std::nextafter(above, INFINITY), INFINITY};
  chain.insert(chain.end(), feature.keypoints.begin(), feature.keypoints.end());
  std::ranges::sort(chain);
  return chain;
}

// How an output moves when a feature with a direction moves its way; 0 if nothing is promised.
int promise_of(const Label& label, std::size_t output) {
  if (!label.has_many_classes()) return 1;
  const Monotonicity promise = label.promises[output];
  return promise == Monotonicity::none ? 0 : promise == Monotonicity::increasing ? 1 : -1;
}

// Walks `count` floats from `first` on and expects that the logarithm of odds never rises.
void expect_logs_fall(float first, std::uint32_t count) {
  const auto begin = std::bit_cast<std::uint32_t>(first);
  float before = negative_log(first);
  for (std::uint32_t bits = begin + 1; bits < begin + count; ++bits) {
    const float after = negative_log(std::bit_cast<float>(bits));
    ASSERT_LE(after, before) << "at " << std::bit_cast<float>(bits);
    before = after;
  }
}

// Those of odds from e^-80 to 100 e^80.
constexpr int kFirstBinade = -116, kLastBinade = 122;

TEST(Explain, TheLogarithmOfOddsNeverRisesOnNeighboursInEachBinade) {
  const std::uint32_t kBinade = 1u << 23, kSome = effort(4000u, 400u);
  for (int binade = kFirstBinade; binade <= kLastBinade; ++binade) {
    const float start = std::ldexp(1.0f, binade);
    expect_logs_fall(start, kSome);
    expect_logs_fall(std::bit_cast<float>(std::bit_cast<std::uint32_t>(start) + kBinade - kSome),
                     kSome + 1);
  }
}

TEST(LongExplain, TheLogarithmOfOddsNeverRisesOnEveryFloat) {
  constexpr auto kBinades = static_cast<std::uint32_t>(kLastBinade - kFirstBinade + 1);
  expect_logs_fall(std::ldexp(1.0f, kFirstBinade), kBinades << 23);
}

TEST(Explain, AWorseValueOfAMonotoneColumnNeverGetsABetterShare) {
  std::size_t compared = 0;
  for (int m = 0; m < kModels; ++m) {
    Random random(static_cast<std::uint64_t>(1000 + m));
    const Predictor predictor(m % 4 == 0 ? random_model_of_classes(random) : random_model(random));
    const Schema& schema = predictor.model().schema();
    const std::vector<float> row = random_cells(schema, random);
    const std::vector<float> baseline = random_baseline(schema, random);
    const std::size_t output = random.below(predictor.num_scores());
    const int promise = promise_of(schema.label, output);
    const std::string name = output_names(schema.label)[output];
    for (std::size_t f = 0; f < schema.features.size(); ++f) {
      const Feature& feature = schema.features[f];
      if (feature.monotonicity == Monotonicity::none || promise == 0) continue;
      std::vector<float> rows;
      for (const float cell : chain_of(feature, random)) {
        rows.insert(rows.end(), row.begin(), row.end());
        rows[rows.size() - row.size() + f] = cell;
      }
      const double sign = promise * (feature.monotonicity == Monotonicity::increasing ? 1 : -1);
      // The last makes some rows exact and others not.
      for (const int exact : {16, 0, static_cast<int>(schema.features.size()) - 1}) {
        const Explanation why = explain(
            predictor, rows, baseline, {.output = name, .exact_columns = exact, .permutations = 6});
        for (std::size_t r = 1; r < why.num_rows; ++r, ++compared) {
          EXPECT_GE(sign * why.shares_of(r)[f], sign * why.shares_of(r - 1)[f])
              << "model " << m << " feature " << f;
        }
      }
    }
  }
  EXPECT_GT(compared, 500u);
}

TEST(Explain, DoesNotDependOnTheNumberOfThreads) {
  Random random(9);
  const Predictor predictor(random_model(random));
  const std::vector<float> rows = random_rows(predictor.model().schema(), 70, random);
  const std::vector<float> baseline = random_baseline(predictor.model().schema(), random);
  for (const int exact : {16, 0}) {
    std::vector<std::size_t> reports;
    const Explanation one =
        explain(predictor, rows, baseline,
                {.exact_columns = exact, .threads = 1, .progress = [&](std::size_t done) {
                   reports.push_back(done);
                 }});
    const Explanation three =
        explain(predictor, rows, baseline, {.exact_columns = exact, .threads = 3});
    EXPECT_EQ(one.scores, three.scores);
    EXPECT_EQ(one.shares, three.shares);
    EXPECT_EQ(one.errors, three.errors);
    EXPECT_TRUE(std::ranges::is_sorted(reports));
    EXPECT_EQ(reports.back(), 70u);
  }
}

TEST(Explain, ScoresAreThoseOfThePredictorAndOffsetsGetNoShare) {
  for (std::uint64_t m = 0; m < 40; ++m) {
    Random random(m);
    const Predictor predictor(random_model(random));
    const Schema& schema = predictor.model().schema();
    const std::vector<float> row = random_cells(schema, random);
    const std::vector<float> baseline = baseline_row(predictor.model());
    const Explanation why = explain(predictor, row, baseline);
    std::vector<float> scores(predictor.num_scores()), base(predictor.num_scores()), cells = row;
    std::ranges::copy(baseline, cells.begin());
    predictor.predict(row, scores, Output::score, 1);
    predictor.predict(cells, base, Output::score, 1);
    EXPECT_EQ(why.scores[0], scores[why.outputs[0]]);
    EXPECT_EQ(why.baselines[0], base[why.outputs[0]]);
    EXPECT_EQ(why.outputs[0], predictor.num_scores() / 2);
  }
}

TEST(Explain, ClassesAreExplainedByTheirOddsAndByDefaultTheMostProbableOne) {
  Random random(4);
  const Predictor predictor(random_class_model(random));
  const std::vector<float> row = random_cells(predictor.model().schema(), random);
  std::vector<float> p(3);
  predictor.predict(row, p, Output::prediction, 1);
  const std::vector<float> baseline = baseline_row(predictor.model());
  for (std::size_t c = 0; c < 3; ++c) {
    const Explanation why =
        explain(predictor, row, baseline, {.output = std::string("p_") + "abc"[c]});
    EXPECT_NEAR(why.scores[0], std::log(p[c] / (1 - p[c])), 1e-4);
  }
  const auto likely = static_cast<std::size_t>(std::ranges::max_element(p) - p.begin());
  EXPECT_EQ(explain(predictor, row, baseline).outputs[0], likely);
}

TEST(Explain, TheBaselineIsWhatTheModelRecords) {
  auto data = std::make_shared<ModelData>();
  data->schema.features = {{.name = "age", .keypoints = {0, 100}, .typical = 37},
                           {.name = "home",
                            .kind = FeatureKind::category,
                            .categories = {"own", "rent", "(rare)"},
                            .shares = {0.2f, 0.3f, 0.5f},
                            .pools_rare = true},
                           {.name = "rank",
                            .kind = FeatureKind::ordered,
                            .keypoints = {0, 1, 2},
                            .typical = 1,
                            .categories = {"low", "middle", "high"}}};
  data->schema.label = {.name = "y"};
  const Model model{std::shared_ptr<const ModelData>(data)};
  EXPECT_EQ(baseline_row(model), (std::vector<float>{37, 1, 1}));
  const Table table{.name = "some.csv",
                    .columns = {{.name = "age", .numbers = {5, NAN, 1, 9, 3}},
                                {.name = "home",
                                 .type = ColumnType::category,
                                 .categories = {"rent", "own", "boat"},
                                 .codes = {0, 1, 2, 1, 2}},
                                {.name = "rank",
                                 .type = ColumnType::category,
                                 .categories = {"high", "low"},
                                 .codes = {0, 1, 0, 0, kMissingCode}}},
                    .num_rows = 5};
  EXPECT_EQ(baseline_row(model, table), (std::vector<float>{3, 0, 2}));
  EXPECT_THAT(error_of([&] { baseline_row(model, {.name = "none.csv"}); }),
              testing::HasSubstr("none.csv: no rows"));
  EXPECT_EQ(cell_text(model.schema().features[0], 36.5f), "36.5");
  EXPECT_EQ(cell_text(model.schema().features[0], NAN), "");
  EXPECT_EQ(cell_text(model.schema().features[1], 1), "rent");
  EXPECT_EQ(cell_text(model.schema().features[1], 7), "(unseen)");
}

TEST(Explain, TopColumnsAreTheWorstOnTheAdverseSide) {
  const std::vector<double> shares = {0.5, -2, 0, 1, -0.5, 1};
  using Columns = std::vector<std::size_t>;
  EXPECT_EQ(top_columns(shares, 4), (Columns{1, 3, 5, 0}));
  EXPECT_EQ(top_columns(shares, 9), (Columns{1, 3, 5, 0, 4}));
  EXPECT_EQ(top_columns(shares, 4, Adverse::higher), (Columns{3, 5, 0}));
  EXPECT_EQ(top_columns(shares, 1, Adverse::lower), (Columns{1}));
  EXPECT_EQ(top_columns(shares, 0), Columns{});
}

TEST(Explain, RefusesWhatDoesNotFit) {
  Random random(5);
  const Predictor predictor(random_one_score_model(random));
  const std::vector<float> row = random_cells(predictor.model().schema(), random);
  const std::vector<float> baseline = baseline_row(predictor.model());
  const auto error = [&](std::span<const float> rows, std::span<const float> base,
                         const ExplainOptions& options) {
    return error_of([&] { explain(predictor, rows, base, options); });
  };
  EXPECT_THAT(error(std::span(row).first(row.size() - 1), baseline, {}),
              testing::HasSubstr("for each row"));
  EXPECT_THAT(error(row, std::span(baseline).first(1), {}),
              testing::HasSubstr("baseline: 1 cells; wanted one for each of"));
  EXPECT_THAT(error(row, baseline, {.output = "q0.5"}),
              testing::HasSubstr("output: 'q0.5' is not one of prediction"));
  EXPECT_THAT(error(row, baseline, {.exact_columns = 21}),
              testing::HasSubstr("exact_columns: 21 is not a whole number from 0 to 20"));
  EXPECT_THAT(error(row, baseline, {.permutations = 3}),
              testing::HasSubstr("permutations: 3 is not"));
}

}  // namespace
}  // namespace espalier
