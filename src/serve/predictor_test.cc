// SPDX-License-Identifier: Apache-2.0
#include "espalier/predictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>

#include "encode/encode.h"
#include "espalier/csv.h"
#include "espalier/train.h"
#include "hwy/targets.h"
#include "objective/link.h"
#include "support/bits_of.h"
#include "support/effort.h"
#include "support/error_of.h"
#include "support/random_model.h"
#include "support/reference_mean.h"
#include "support/schema_rows.h"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const int kModels = effort(125, 8);

std::vector<float> predict_rows(const Predictor& predictor, std::span<const float> rows,
                                Output output = Output::score) {
  Predictor::Scratch scratch(predictor);
  std::vector<float> out(rows.size() / predictor.num_cells() * predictor.num_scores());
  predictor.predict(rows, out, scratch, output);
  return out;
}

double reference_score(const Model& model, std::span<const float> cells, std::size_t score) {
  const Schema& schema = model.schema();
  const Label& label = schema.label;
  const std::vector<double> row = encoded_row(schema, cells, score);
  const double own = schema.beside.contains(Role::offset) ? usable_offset(cells.back()) : 0;
  const double mean = reference_mean(model.data(), row, cells, score);
  return std::clamp<double>(label.offsets[score] + own + label.scale * mean,
                            -std::numeric_limits<float>::max(), std::numeric_limits<float>::max());
}

// 125 models of 2,000 rows.
TEST(Predictor, EveryInstructionSetAndASingleRowGiveTheSameBits) {
  const std::int64_t supported = hwy::SupportedTargets();
  for (int seed = 1; seed <= kModels; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const Model model = random_model(random);
    const Predictor predictor(model);
    const std::vector<float> rows = random_rows(model.schema(), 2000, random);
    hwy::GetChosenTarget().Update(HWY_SCALAR);
    const auto wanted = bits_of(predict_rows(predictor, rows));
    for (const std::int64_t target : {HWY_SCALAR, HWY_AVX2, HWY_AVX3}) {
      if (target != HWY_SCALAR && (supported & target) == 0) continue;
      hwy::GetChosenTarget().Update(target);
      ASSERT_EQ(bits_of(predict_rows(predictor, rows)), wanted) << hwy::TargetName(target);
      Predictor::Scratch scratch(predictor);
      std::vector<float> single(wanted.size());
      const std::size_t width = predictor.num_cells(), scores = predictor.num_scores();
      for (std::size_t r = 0; r < wanted.size() / scores; ++r) {
        predictor.predict(std::span(rows).subspan(r * width, width),
                          std::span(single).subspan(r * scores, scores), scratch, Output::score);
      }
      ASSERT_EQ(bits_of(single), wanted)
          << hwy::TargetName(target) << ", row by row: " << model.architecture();
    }
  }
  hwy::GetChosenTarget().Update(supported);
}

TEST(Predictor, ABatchOfAnySizeGivesTheSameBits) {
  Random random(3);
  const Model model = random_model(random);
  const Predictor predictor(model);
  const std::vector<float> rows = random_rows(model.schema(), 200, random);
  const auto wanted = bits_of(predict_rows(predictor, rows));
  for (const std::size_t count : {0, 1, 7, 8, 63, 64, 65, 130}) {
    const auto found =
        bits_of(predict_rows(predictor, std::span(rows).first(count * predictor.num_cells())));
    const auto size = static_cast<long>(count * predictor.num_scores());
    EXPECT_EQ(found, std::vector(wanted.begin(), wanted.begin() + size));
  }
}

TEST(Predictor, IsWithinOneHundredThousandthOfTheRangeOfTheReference) {
  double worst = 0;
  for (int seed = 1; seed <= kModels; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const Model model = random_model(random);
    const Predictor predictor(model);
    const std::vector<float> rows = random_rows(model.schema(), 1000, random);
    const std::vector<float> found = predict_rows(predictor, rows);
    double least = INFINITY, most = -INFINITY, error = 0;
    for (std::size_t r = 0; r < found.size(); ++r) {
      const std::size_t row = r / predictor.num_scores(), width = predictor.num_cells();
      const double wanted = reference_score(model, std::span(rows).subspan(row * width, width),
                                            r % predictor.num_scores());
      if (std::abs(wanted) > 1e30) continue;  // an infinite offset
      least = std::min(least, wanted);
      most = std::max(most, wanted);
      error = std::max(error, std::abs(wanted - found[r]));
    }
    // A model that hardly moves is evaluated by its size: a float near 1 has steps of 1e-7.
    const double range = std::max(most - least, 0.02 * (1 + std::abs(most)));
    const double rounding = 1e-7 * std::max(std::abs(most), std::abs(least));
    ASSERT_LE(error, 1e-5 * range + rounding) << "seed " << seed << ": " << model.architecture();
    worst = std::max(worst, error / range);
  }
  RecordProperty("worst_error_in_millionths_of_the_range", std::to_string(1e6 * worst));
}

TEST(Predictor, ClipsInfinitiesAndTakesNanAsMissing) {
  auto data = std::make_shared<ModelData>();
  data->schema.features = {
      {.name = "up", .monotonicity = Monotonicity::increasing, .keypoints = {0, 1, 5}},
      {.name = "down",
       .monotonicity = Monotonicity::decreasing,
       .keypoints = {0, 4},
       .learns_missing = true},
      {.name = "colour",
       .kind = FeatureKind::category,
       .categories = {"red", "", "blue"},
       .shares = {1, 1, 2}}};
  data->schema.features[0].typical = 1;
  data->members.emplace_back(Network(parse_architecture("cal lin(1)"), input_wires(data->schema),
                                     MonotoneCalibrators::required, Random(1)));
  const std::vector<float> params = {0.25f, 0.5f, 1,     // up
                                     0,     1,    0.5f,  // down: from the far end, then missing
                                     8,     16,   10,   20, 40, 0};
  std::copy(params.begin(), params.end(), data->members[0].network().params().begin());
  const Model model((std::shared_ptr<const ModelData>(data)));
  const Predictor predictor(model);
  Predictor::Scratch scratch(predictor);
  const auto score = [&](float up, float down, float colour) {
    const float row[] = {up, down, colour};
    return predictor.predict(row, scratch, Output::score);
  };
  EXPECT_EQ(score(0, 4, 0), 8 * 0.25f + 0 + 10);
  EXPECT_EQ(score(-INFINITY, INFINITY, 0), score(0, 4, 0));
  EXPECT_EQ(score(INFINITY, -INFINITY, 0), score(5, 0, 0));
  EXPECT_EQ(score(3, 0, 0), 8 * 0.75f + 16 + 10);
  EXPECT_EQ(score(NAN, 0, 0), score(1, 0, 0)) << "the typical value";
  EXPECT_EQ(score(0, NAN, 0), 8 * 0.25f + 16 * 0.5f + 10) << "the learned value";
  EXPECT_EQ(score(0, 4, 2), 8 * 0.25f + 40);
  EXPECT_EQ(score(0, 4, NAN), 8 * 0.25f + 20) << "missing is a category here";
  const float unseen = 8 * 0.25f + (10 + 20 + 2 * 40) / 4.0f;
  for (const float code : {-1.0f, 3.0f, 1e9f, 0.5f, INFINITY}) EXPECT_EQ(score(0, 4, code), unseen);
  EXPECT_EQ(predictor.code(2, "blue"), 2);
  EXPECT_EQ(score(0, 4, predictor.code(2, "green")), unseen);
  EXPECT_EQ(score(0, 4, predictor.code(2, "NA")), score(0, 4, NAN)) << "means missing";
  EXPECT_TRUE(std::isnan(predictor.code(0, "1")));
}

TEST(Predictor, FindsTheCodesThatATableGets) {
  auto data = std::make_shared<ModelData>();
  data->schema.features = {{.name = "c",
                            .kind = FeatureKind::category,
                            .categories = {"1", "2.0", "NA"},
                            .shares = {1, 1, 2},
                            .not_missing = {"NA"}}};
  data->members.emplace_back(Network(parse_architecture("lin(1)"), input_wires(data->schema),
                                     MonotoneCalibrators::required, Random(1)));
  const Model model((std::shared_ptr<const ModelData>(data)));
  const Predictor predictor(model);
  const char* words[] = {"1", "1.0", "2", "2.0", "NA", "na", "3", "", "01"};
  std::string text = "c,d\n";
  for (const char* word : words) text += std::string(word) + ",1\n";
  const std::vector<float> rows = predictor.rows(parse_csv(text, model.csv_options()));
  for (std::size_t i = 0; i < std::size(words); ++i) {
    const float code = predictor.code(0, words[i]);
    EXPECT_EQ(encode_cell(data->schema.features[0], code), rows[i]) << words[i];
  }
}

TEST(Predictor, PredictingCannotThrow) {
  const Predictor* predictor = nullptr;
  Predictor::Scratch* scratch = nullptr;
  EXPECT_TRUE(noexcept(predictor->predict(std::span<const float>(), *scratch)));
  EXPECT_TRUE(noexcept(predictor->predict(std::span<const float>(), std::span<float>(), *scratch)));
}

// Sizes that do not fit, at random and by one, give false and NaN, and nothing is read or written
// beyond the spans: the sanitizers watch the vectors, which are exactly as long as they say.
TEST(Predictor, ReportsSizesThatDoNotFit) {
  Random random(1);
  const Model model = random_model(random);
  const Predictor predictor(model);
  Predictor::Scratch scratch(predictor);
  const std::size_t width = predictor.num_cells();
  for (int i = 0; i < 2000; ++i) {
    const std::size_t count = random.below(200);
    const std::size_t near = count * width + (i % 2 == 0 ? 1 : 0) + width * (i % 3 == 0 ? 1 : 0);
    const std::vector<float> rows(i % 7 == 0 ? random.below(200 * width) : near, 0.5f);
    std::vector<float> out(count * predictor.num_scores(), 7.0f);
    const bool fits = rows.size() == count * width;
    ASSERT_EQ(predictor.predict(rows, out, scratch), fits) << rows.size() << " for " << count;
    for (const float value : out) ASSERT_EQ(std::isnan(value), !fits);
    ASSERT_EQ(std::isnan(predictor.predict(rows, scratch)),
              rows.size() != width || predictor.num_scores() > 1);
    if (fits) {
      predictor.predict(rows, out, Output::score, 1);
    } else {
      ASSERT_THROW(predictor.predict(rows, out, Output::score, 1), Error);
    }
  }
}

TEST(Predictor, SaysWhichSizesItWants) {
  Random random(1);
  const Predictor predictor(random_model(random));
  const std::vector<float> rows(predictor.num_cells() + 1);
  std::vector<float> out(2);
  EXPECT_EQ(
      error_of([&] { predictor.predict(rows, out, Output::score, 0); }),
      fmt::format("predict: {} cells for 2 outputs; wanted {} cells and {} outputs for each row",
                  rows.size(), predictor.num_cells(), predictor.num_scores()));
}

// Scratch of one predictor for another: enough is enough, and less is reported.
TEST(Predictor, TakesTheScratchOfAnotherOnlyIfItIsLargeEnough) {
  std::vector<Predictor> predictors;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Random random(seed);
    predictors.emplace_back(random_model(random));
  }
  int taken = 0, refused = 0;
  for (const Predictor& predictor : predictors) {
    const std::vector<float> rows(70 * predictor.num_cells(), 0.5f);
    const auto wanted = bits_of(predict_rows(predictor, rows, Output::prediction));
    for (const Predictor& other : predictors) {
      Predictor::Scratch scratch(other);
      std::vector<float> out(wanted.size());
      const bool fits = predictor.predict(rows, out, scratch);
      ASSERT_EQ(bits_of(out), fits ? wanted : bits_of(std::vector<float>(out.size(), NAN)));
      ++(fits ? taken : refused);
    }
    Predictor::Scratch scratch(predictor);
    const Predictor::Scratch moved = std::move(scratch);
    EXPECT_TRUE(
        std::isnan(predictor.predict(std::span(rows).first(predictor.num_cells()), scratch)));
  }
  EXPECT_GE(taken, 12);
  EXPECT_GE(refused, 12);
}

TEST(Predictor, AFeatureThatIsNotThereHasNoCode) {
  Random random(1);
  const Predictor predictor(random_model(random));
  EXPECT_TRUE(std::isnan(predictor.code(predictor.num_cells(), "red")));
  EXPECT_TRUE(std::isnan(predictor.code(static_cast<std::size_t>(-1), "")));
}

// A float of [1, 2] from 23 random bits.
float in_binade() {
  return 1.0f + static_cast<float>(*rc::gen::inRange(0, (1 << 23) + 1)) * 0x1p-23f;
}

float between_0_and_1() {
  return static_cast<float>(*rc::gen::inRange(0, (1 << 24) + 1)) * 0x1p-24f;
}

// The heart of the proof: one rounding of a function that rises with t, a and b.
RC_GTEST_PROP(Binade, InterpolationRisesWithTAndBothEnds, ()) {
  const auto lerp = [](float t, float a, float b) { return std::fma(t, b - a, a); };
  const float t = between_0_and_1();
  float a = in_binade(), b = in_binade();
  const float y = lerp(t, a, b);
  RC_ASSERT(y >= std::min(a, b) && y <= std::max(a, b));
  if (a < 2) RC_ASSERT(lerp(t, std::nextafter(a, 2.0f), b) >= y);
  if (b < 2) RC_ASSERT(lerp(t, a, std::nextafter(b, 2.0f)) >= y);
  if (a > b) std::swap(a, b);
  if (t < 1) RC_ASSERT(lerp(std::nextafter(t, 1.0f), a, b) >= lerp(t, a, b));
}

TEST(Predictor, RowsOfATableGiveThePredictionsOfTheModel) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    const Model model = random_model(random);
    const Predictor predictor(model);
    const Table table = schema_rows(model.schema());
    EXPECT_EQ(bits_of(predict_rows(predictor, predictor.rows(table), Output::prediction)),
              bits_of(model.predict(table)));
  }
}

// From the least float to the largest, by the row, by the tile, and from a table.
TEST(Predictor, NoPredictionFallsWhenTheExposureOrTheOffsetRises) {
  std::vector<float> rising = {-INFINITY, -3e38f, -1, -1e-40f, 0,     1e-45f,  1e-40f,
                               1e-9f,     0.5f,   1,  2,       1e20f, 3.4e38f, INFINITY};
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const Model model = random_model(random);
    const Schema& schema = model.schema();
    const Predictor predictor(model);
    Predictor::Scratch scratch(predictor);
    const std::size_t width = predictor.num_cells(), scores = predictor.num_scores();
    const std::vector<float> row = random_cells(schema, random);
    for (std::size_t cell = schema.features.size(); cell < width; ++cell) {
      std::vector<float> rows, many(rising.size() * scores), single(scores);
      for (const float value : rising) {
        rows.insert(rows.end(), row.begin(), row.end());
        rows[rows.size() - width + cell] = value;
      }
      ASSERT_TRUE(predictor.predict(rows, many, scratch));
      for (std::size_t r = 0; r < rising.size(); ++r) {
        ASSERT_TRUE(predictor.predict(std::span(rows).subspan(r * width, width), single, scratch));
        for (std::size_t s = 0; s < scores; ++s) {
          ASSERT_EQ(single[s], many[r * scores + s]);
          ASSERT_TRUE(std::isfinite(single[s]));
          const float before = many[(r > 0 ? r - 1 : 0) * scores + s];
          ASSERT_GE(single[s], before) << "at " << rising[r];
        }
      }
      ++tried;
    }
  }
  EXPECT_GT(tried, 10);
}

TEST(Predictor, ATableMayHaveAnyExposureAndOffsetAndWarnsOfOddOnes) {
  const Table train_table = parse_csv("x,y,years,base\n1,0,1,0\n2,1,0.5,0.1\n3,2,2,0\n4,1,1,0.2\n");
  const Model model = train(train_table, {.label = "y",
                                          .exposure = "years",
                                          .offset = "base",
                                          .loss = Loss::poisson,
                                          .ensemble = 1,
                                          .trees = 0,
                                          .epochs = 1,
                                          .valid_fraction = 0})
                          .model;
  const Table odd = parse_csv("x,years,base\n1,0,0\n1,-2,0\n1,inf,0\n1,,0\n1,1,\n1,1,-inf\n1,1,0\n",
                              model.csv_options());
  const Predictor predictor(model);
  const std::vector<float> rows = predictor.rows(odd);
  std::vector<float> by_row(odd.num_rows);
  predictor.predict(rows, by_row, Output::prediction, 1);
  const std::vector<float> by_table = model.predict(odd);
  EXPECT_EQ(by_table, by_row);
  EXPECT_EQ(by_table[0], 0);
  EXPECT_EQ(by_table[1], 0);
  EXPECT_EQ(by_table[2], std::min(by_table[6] * std::numeric_limits<float>::max(),
                                  std::numeric_limits<float>::max()));
  EXPECT_EQ(by_table[3], by_table[6]);
  EXPECT_EQ(by_table[4], by_table[6]);
  EXPECT_EQ(by_table[5], 0);
  EXPECT_THAT(
      model.warnings(odd),
      ElementsAre(HasSubstr("column 'years': 4 of 7 values are no exposure, such as 0 in row 1"),
                  HasSubstr("column 'base': 2 of 7 values are no offset, such as nan in row 5")));
  EXPECT_THAT(model.warnings(train_table), IsEmpty());
}

TEST(Predictor, SeveralThreadsGiveTheBitsOfOne) {
  Random random(1);
  const Model model = random_model(random);
  const Predictor predictor(model);
  const std::vector<float> rows = random_rows(model.schema(), 5000, random);
  std::vector<float> out(5000 * predictor.num_scores());
  predictor.predict(rows, out, Output::score, 3);
  EXPECT_EQ(bits_of(out), bits_of(predict_rows(predictor, rows)));
}

}  // namespace
}  // namespace espalier
