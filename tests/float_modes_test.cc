// SPDX-License-Identifier: Apache-2.0
// A program may have switched its threads to flush subnormal numbers to zero or to round otherwise:
// everything that the library makes has the same bytes then.
#include "support/float_modes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <sstream>

#include "core/file.h"
#include "encode/encode.h"
#include "espalier/espalier.h"
#include "support/effort.h"
#include "support/random_model.h"
#include "support/temporary_folder.h"

namespace espalier {
namespace {

// What `make` returns in the default mode, and in each other one.
void expect_same(const std::function<std::string()>& make) {
  const std::string wanted = make();
  for (const FloatMode& mode : odd_float_modes()) {
    const OddFloats odd(mode);
    const std::string found = make();
    EXPECT_EQ(float_mode(), mode.word) << mode.name << ": the mode was not set back";
    EXPECT_EQ(found, wanted) << mode.name;
  }
}

std::string bytes_of(std::span<const float> values) {
  std::string text;
  for (const float value : values)
    text += fmt::format("{:08x} ", std::bit_cast<std::uint32_t>(value));
  return text;
}

template <class Numbers>
std::string text_of(const Numbers& numbers) {
  std::string text;
  for (const double number : numbers)
    text += fmt::format("{:016x} ", std::bit_cast<std::uint64_t>(number));
  return text;
}

TEST(FloatModes, TheOnesOfTheTestAreNotTheDefault) {
  volatile float least = 0x1p-149f, one = 1;
  for (const FloatMode& mode : odd_float_modes()) {
    const OddFloats odd(mode);
    const bool flushes = least * one == 0;
    const bool rounds = one + least != one || -one - least != -one;
    EXPECT_TRUE(flushes || rounds) << mode.name;
  }
}

// Numbers from the least subnormal one to those that overflow a difference, and their neighbours.
std::vector<float> keypoints_of_all_sizes(Random& random) {
  std::vector<float> keypoints;
  while (keypoints.size() < 2) {
    for (std::uint64_t k = 0; k < 2 + random.below(6); ++k) {
      const auto bits = static_cast<std::uint32_t>(random.below(std::uint64_t{1} << 32));
      const auto drawn = std::bit_cast<float>(random.uniform() < 0.5 ? bits & 0x80ffffff : bits);
      if (!std::isfinite(drawn)) continue;
      keypoints.push_back(drawn);
      if (random.uniform() < 0.5) keypoints.push_back(std::nextafter(drawn, 0.0f));
    }
    std::sort(keypoints.begin(), keypoints.end());
    keypoints.erase(std::unique(keypoints.begin(), keypoints.end()), keypoints.end());
  }
  return keypoints;
}

TEST(FloatModes, APositionLiesAmongTheKeypointsInEveryMode) {
  std::vector<FloatMode> modes = odd_float_modes();
  modes.push_back({"the default", float_mode()});
  for (std::uint64_t seed = 1; seed <= effort(3000u, 300u); ++seed) {
    Random random(seed);
    const std::vector<float> keypoints = keypoints_of_all_sizes(random);
    std::vector<float> values = keypoints_of_all_sizes(random);
    values.insert(values.end(), keypoints.begin(), keypoints.end());
    values.insert(values.end(), {-INFINITY, INFINITY, 0.0f, -0.0f, 0x1p-149f});
    const auto last = static_cast<float>(keypoints.size() - 1);
    for (const FloatMode& mode : modes) {
      const OddFloats odd(mode);
      for (const float value : values) {
        for (const bool reversed : {false, true}) {
          const float position = position_among(keypoints, value, reversed);
          EXPECT_TRUE(position >= 0 && position <= last) << mode.name << ": " << position;
        }
      }
    }
  }
}

// Cells next to the keypoints, many of which are subnormal, and those of random_rows.
std::vector<float> near_keypoints(const Schema& schema, Random& random) {
  std::vector<float> rows = random_rows(schema, 30, random);
  const std::size_t width = rows.size() / 30;
  for (std::size_t i = 0; i < rows.size() / 2; ++i) {
    if (i % width >= schema.features.size()) continue;
    const Feature& feature = schema.features[i % width];
    if (feature.kind != FeatureKind::number) continue;
    rows[i] = feature.keypoints[random.below(feature.keypoints.size())];
    if (random.uniform() < 0.5) rows[i] = std::nextafter(rows[i], INFINITY);
  }
  return rows;
}

TEST(FloatModes, PredictionsHaveTheSameBits) {
  for (std::uint64_t seed = 1; seed <= effort(60u, 12u); ++seed) {
    Random random(seed);
    const Model model = random_model(random);
    const std::vector<float> rows = near_keypoints(model.schema(), random);
    const std::string file = model.to_bytes();
    expect_same([&] {
      const Predictor predictor(Model::from_bytes(file));
      Predictor::Scratch scratch(predictor);
      const std::size_t width = predictor.num_cells(), scores = predictor.num_scores();
      const std::size_t count = rows.size() / width;
      std::vector<float> many(count * scores), threads(many.size()), single(many.size());
      std::string text = predictor.model().to_bytes() == file ? "" : "another model";
      for (const Output output : {Output::prediction, Output::score}) {
        predictor.predict(rows, many, scratch, output);
        predictor.predict(rows, threads, output, 2);
        for (std::size_t r = 0; r < count; ++r) {
          predictor.predict(std::span(rows).subspan(r * width, width),
                            std::span(single).subspan(r * scores, scores), scratch, output);
        }
        text += bytes_of(many) + bytes_of(threads) + bytes_of(single);
      }
      return text;
    });
  }
}

TEST(FloatModes, ExplanationsAndProofsHaveTheSameBits) {
  for (std::uint64_t seed = 1; seed <= effort(12u, 3u); ++seed) {
    Random random(seed);
    const Model model = random_model(random);
    const std::vector<float> rows = near_keypoints(model.schema(), random);
    expect_same([&] {
      const Predictor predictor(model);
      const Explanation why =
          explain(predictor, rows, baseline_row(model), {.exact_columns = 4, .permutations = 4});
      std::string text = text_of(why.shares) + bytes_of(why.scores);
      for (const std::size_t column : top_columns(why.shares_of(0), 3))
        text += fmt::format("{} ", column);
      const Dependence moved = partial_dependence(predictor, rows, 0);
      text += bytes_of(moved.cells) + text_of(moved.mean) + bytes_of(moved.middle);
      const Certificate proof = verify(model, {.pairs = 500});
      text += fmt::format("{} {} {}", proof.violations, proof.pairs, proof.pair_violations);
      return text + inspect_json(model) + inspect_text(model);
    });
  }
}

// Claims with an exposure, over columns most of whose numbers are subnormal.
std::string claims_text() {
  std::string text = "tiny,small,kind,years,claims\n";
  Random random(7);
  for (int row = 0; row < 300; ++row) {
    const double x = random.uniform();
    text += fmt::format("{:.6g},{:.6g},{},{:.3f},{}\n", 1e-42 * std::floor(200 * x),
                        -1e-39 * random.normal(), row % 3 == 0 ? "a" : "b", 0.1 + random.uniform(),
                        random.below(1 + static_cast<std::uint64_t>(4 * x)));
  }
  return text;
}

TEST(FloatModes, TablesModelsAndTheirEvaluationHaveTheSameBytes) {
  const TemporaryFolder folder;
  expect_same([&] {
    const Table table = parse_csv(claims_text());
    std::ostringstream written;
    write_csv(table, written);
    std::string text = written.str();
    const Model model = train(table, {.label = "claims",
                                      .increasing = {"tiny"},
                                      .exposure = "years",
                                      .loss = Loss::poisson,
                                      .ensemble = 1,
                                      .epochs = 2,
                                      .threads = 2})
                            .model;
    text += model.to_bytes() + bytes_of(model.predict(table));
    for (const MetricValue& metric : evaluate(model, table).metrics)
      text += fmt::format("{} ", metric.value);
    const Importance worth = importance(model, table, {.repeats = 1, .shared_rows = 20});
    for (const ColumnImportance& column : worth.columns)
      text += fmt::format("{} {} ", column.loss.mean, column.share.mean);
    text += page_html(model, table, {.pairs = 500});
    for (const std::string name : {"claims.h", "claims.onnx"}) {
      name == "claims.h" ? static_cast<void>(export_header(model, folder / name))
                         : static_cast<void>(export_onnx(model, folder / name));
      text += read_file(folder / name).view();
    }
    return text;
  });
}

TEST(FloatModes, SimulatedTablesHaveTheSameBytes) {
  expect_same([] {
    std::ostringstream written;
    write_csv(simulate({.rows = 200}), written);
    return written.str();
  });
}

TEST(FloatModes, AreSetBackWhenACallFails) {
  for (const FloatMode& mode : odd_float_modes()) {
    const OddFloats odd(mode);
    EXPECT_THROW(parse_csv("a,b\n1\n"), Error);
    EXPECT_THROW(Model::from_bytes("no model"), Error);
    EXPECT_THROW(train(simulate({.rows = 20}), {.label = "absent"}), Error);
    EXPECT_EQ(float_mode(), mode.word) << mode.name;
  }
}

}  // namespace
}  // namespace espalier
