// SPDX-License-Identifier: Apache-2.0
// What must hold for every kind of label.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/large_vector.h"
#include "espalier/certificate.h"
#include "espalier/csv.h"
#include "espalier/error.h"
#include "espalier/inspect.h"
#include "espalier/json.h"
#include "espalier/metrics.h"
#include "espalier/outputs.h"
#include "espalier/predictor.h"
#include "espalier/simulate.h"
#include "espalier/train.h"
#include "espalier/tune.h"
#include "support/bytes_without_choices.h"
#include "support/effort.h"
#include "support/metric_of.h"
#include "support/temporary_folder.h"
#include "support/thread_ranks.h"
#include "train/presets.h"
#include "train/train_on.h"

namespace espalier {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

struct Kind {
  std::string name;
  SimulatedKind table;
  TrainOptions options;
  std::vector<std::string> drop = {};
};

std::vector<Kind> all_kinds() {
  using enum SimulatedKind;
  std::vector<Kind> kinds = {
      {"two classes", loans, {.label = "default"}},
      {"offset", loans, {.label = "default", .offset = "debt_ratio"}},
      {"trees", loans, {.label = "default", .trees = 9, .tree_leaves = 6, .tree_share = 0.6}},
      {"trees of claims",
       claims,
       {.label = "claims",
        .exposure = "exposure",
        .loss = Loss::poisson,
        .trees = 9,
        .tree_leaves = 6,
        .tree_share = 0.3},
       {"cost"}},
      {"trees of the median",
       prices,
       {.label = "interest",
        .loss = Loss::absolute_error,
        .trees = 9,
        .tree_leaves = 6,
        .tree_share = 0.7}},
      {"trees of quantiles",
       prices,
       {.label = "interest",
        .quantile = {0.1, 0.5, 0.9},
        .trees = 9,
        .tree_leaves = 12,
        .tree_share = 0.4}},
      {"trees of grades",
       grades,
       {.label = "grade",
        .grades = "low<moderate<high<severe",
        .trees = 9,
        .tree_leaves = 12,
        .tree_share = 0.5}},
      {"absolute error", prices, {.label = "interest", .loss = Loss::absolute_error}},
      {"one quantile", prices, {.label = "interest", .quantile = {0.9}}},
      {"quantiles", prices, {.label = "interest", .quantile = {0.1, 0.5, 0.9}}},
      {"grades", grades, {.label = "grade", .grades = "low<moderate<high<severe"}},
      {"classes", grades, {.label = "grade"}},
      {"one class", grades, {.label = "grade"}},
      {"two classes of four", grades, {.label = "grade"}},
      {"poisson",
       claims,
       {.label = "claims", .exposure = "exposure", .loss = Loss::poisson},
       {"cost"}},
      {"tweedie",
       claims,
       {.label = "cost", .exposure = "exposure", .loss = Loss::tweedie, .power = 1.7},
       {"claims"}},
      {"gamma", prices, {.label = "interest", .loss = Loss::gamma}},
  };
  for (Kind& kind : kinds) {
    if (kind.name == "one class") {
      kind.options.increasing = {"low:income"};
      kind.options.decreasing = {"low:late_payments", "low:debt_ratio"};
    } else if (kind.name == "two classes of four") {
      kind.options.increasing = {"low:income", "severe:late_payments"};
      kind.options.decreasing = {"severe:income", "low:late_payments"};
    } else if (kind.name != "classes") {
      kind.options.increasing = {"late_payments"};
      kind.options.decreasing = {"income"};
      if (kind.name != "offset") kind.options.increasing.push_back("debt_ratio");
    }
    kind.options.trees = kind.options.trees.value_or(0);  // only where it says so
    kind.options.architecture = "dln(6x3)";
    kind.options.interactions = {"income*late_payments:4"};  // a table where they have directions
    kind.options.epochs = 3;
  }
  return kinds;
}

const std::int64_t kKindRows = effort(900, 200), kRowsToLearn = 1500;
const std::size_t kPairs = effort(20'000, 1000);

Table table_of(const Kind& kind, std::int64_t rows = kKindRows) {
  Table table = simulate({.kind = kind.table, .rows = rows, .numbers = 4, .categories = 2});
  if (kind.name == "gamma") {
    for (Column& column : table.columns) {
      if (column.name != "interest") continue;
      for (float& value : column.numbers) value = std::abs(value) + 0.01f;
    }
  }
  std::erase_if(table.columns, [&](const Column& column) {
    return std::ranges::find(kind.drop, column.name) != kind.drop.end();
  });
  return table;
}

std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> result;
  for (const float value : values) result.push_back(std::bit_cast<std::uint32_t>(value));
  return result;
}

// What `espalier predict` writes of a piece.
Table outputs_of(const Model& model, const Table& piece) {
  return output_table(model.schema().label, model.predict(piece));
}

TEST(EveryKindOfLabel, PredictsInPiecesAsAtOnce) {
  const TemporaryFolder folder;
  const std::string path = (folder / "t.csv").string();
  for (Kind kind : all_kinds()) {
    kind.options.epochs = 1;
    const Table table = table_of(kind, 200);
    const Model model = train(table, kind.options).model;
    std::ofstream file(path);
    write_csv(table, file);
    file.close();
    const CsvOptions reading = model.csv_options();
    std::string wanted;
    write_csv(outputs_of(model, read_csv(path, reading)), [&](auto text) { wanted += text; });
    for (const std::size_t bytes : {500, 4000, 1 << 20}) {
      std::string seen;
      CsvPieces pieces(path, reading, bytes);
      CsvWriter writer([&](std::string_view text) { seen += text; }, 2);
      for (Table piece; pieces.next(piece);) writer.add(outputs_of(model, piece));
      EXPECT_EQ(seen, wanted) << kind.name << ", " << bytes << " bytes a piece";
    }
  }
}

// With all arrays of some bytes in files, and few rows taken for many.
std::string model_of(const Table& table, const Kind& kind, std::size_t many_rows,
                     const std::string& scratch) {
  std::optional<SpillTo> spill;
  if (!scratch.empty()) spill.emplace(scratch, 256);
  TrainOptions options = kind.options;
  if (table.num_rows >= many_rows) options.trees = 0;  // they would be refused
  return train_on({.table = table, .many_rows = many_rows}, options, {.scratch = scratch})
      .model.to_bytes();
}

TEST(EveryKindOfLabel, TrainsFromDiskAsFromMemory) {
  const TemporaryFolder folder;
  const std::string path = (folder / "t.csv").string(), scratch = (folder / "scratch").string();
  std::filesystem::create_directory(scratch);
  for (Kind kind : all_kinds()) {
    kind.options.epochs = 2;
    kind.options.batch_size = 32;
    if (kind.name == "offset") kind.options.ensemble = 2;
    if (kind.name == "classes") kind.options.interactions = {"auto"};
    std::ofstream file(path);
    write_csv(table_of(kind, 300), file);
    file.close();
    const Table in_memory = read_csv(path), on_disk = read_csv_to_disk(path, {}, {scratch});
    std::string few;
    for (const std::size_t many_rows : {kManyRows, std::size_t{64}}) {
      const std::string wanted = model_of(in_memory, kind, many_rows, "");
      EXPECT_EQ(model_of(on_disk, kind, many_rows, scratch) == wanted, true) << kind.name;
      EXPECT_NE(wanted == few, true) << kind.name << ": many rows come in another order";
      few = wanted;
    }
    EXPECT_TRUE(std::filesystem::is_empty(scratch));
  }
}

Table with_weights(Table table) {
  Column weight{.name = "weight"};
  for (std::size_t row = 0; row < table.num_rows; ++row)
    weight.numbers.push_back(0.1f + static_cast<float>(row % 7) / 3);
  table.columns.push_back(std::move(weight));
  return table;
}

Table share_of(const Table& table, const Ranks& ranks) {
  const auto [first, last] = rows_of_rank(ranks, table.num_rows);
  Table share = take_rows(table, rows_between(first, last));
  share.first_row = first;
  return share;
}

// Ranks divide the shards of a batch: eight here, and one of a smaller batch. Of many rows each has
// those of its shards, whether it was given all of them or its share.
TEST(EveryKindOfLabel, TrainsOnRanksAsAlone) {
  for (Kind kind : all_kinds()) {
    kind.options.epochs = 2;
    kind.options.batch_size = kind.name == "offset" ? 64 : kind.name == "grades" ? 200 : 512;
    if (kind.name == "offset" || kind.name == "quantiles") kind.options.ensemble = 2;
    if (kind.name == "classes" || kind.name == "gamma") kind.options.interactions = {"auto"};
    if (kind.name == "grades") kind.options.interactions = {"years_employed*region"};
    if (kind.name == "poisson") kind.options.architecture = "crystals(4x2)";
    const bool is_first = kind.name == "two classes";
    if (is_first) kind.options.weight = "weight";
    const Table table = is_first ? with_weights(table_of(kind, 600)) : table_of(kind, 600);
    const bool tries_all = effort(is_first, false);
    for (const std::size_t many_rows : {kManyRows, std::size_t{64}}) {
      const std::string alone = model_of(table, kind, many_rows, "");
      for (const int size : tries_all ? std::vector{2, 5, 9} : std::vector{3}) {
        on_ranks(size, [&](Ranks& ranks) {
          TrainOptions options = kind.options;
          options.threads = 1 + ranks.rank() % 2;
          if (table.num_rows >= many_rows) options.trees = 0;
          const auto expect_same = [&](const Table& own) {
            const std::string together =
                train_on({.table = own, .many_rows = many_rows}, options, {.ranks = &ranks})
                    .model.to_bytes();
            EXPECT_EQ(together == alone, true)
                << kind.name << ", " << size << " ranks, " << own.num_rows << " rows";
          };
          expect_same(table);
          if (table.num_rows >= many_rows) expect_same(share_of(table, ranks));
        });
      }
    }
  }
}

TEST(EveryKindOfLabel, InspectShowsTheSurfaceOfAPair) {
  for (const Kind& kind : all_kinds()) {
    const Json pairs =
        Json::parse(inspect_json(train(table_of(kind), kind.options).model)).at("pairs");
    ASSERT_EQ(pairs.size(), 1u) << kind.name;
    EXPECT_TRUE(pairs[0].at("strength").is_number()) << kind.name;
    for (const Json& scores : pairs[0].at("scores"))
      for (const Json& score : scores) EXPECT_TRUE(score.is_number()) << kind.name;
  }
}

// Saved, loaded and trained again with what the model records, on other threads, it is the same.
TEST(EveryKindOfLabel, RecordedOptionsTrainTheSameModel) {
  for (const Kind& kind : all_kinds()) {
    const Table table = table_of(kind);
    const TrainResult first = train(table, kind.options);
    TrainOptions again = first.options;
    again.threads = 3;
    EXPECT_TRUE(bytes_without_choices(train(table, again).model) ==
                bytes_without_choices(first.model))
        << kind.name;
    const Model loaded = Model::from_bytes(first.model.to_bytes());
    EXPECT_EQ(loaded.hash(), first.model.hash()) << kind.name;
    EXPECT_EQ(bits(loaded.predict(table)), bits(first.model.predict(table))) << kind.name;
  }
}

TEST(EveryKindOfLabel, IsProvedAndNoPairFalls) {
  for (const Kind& kind : all_kinds()) {
    TrainOptions options = kind.options;
    options.ensemble = 2;
    const Model model = train(table_of(kind), options).model;
    const Certificate proof = verify(model, {.pairs = kPairs});
    EXPECT_TRUE(proof.holds()) << kind.name << ": " << proof.culprits.front();
    EXPECT_EQ(proof.pairs, kind.name == "classes" ? 0u : kPairs) << kind.name;
    const bool has_levels = options.quantile.size() > 1 || !options.grades.empty();
    EXPECT_EQ(proof.levels.size(), has_levels ? 3u : 0u) << kind.name;
  }
}

// Ten kinds of ten million pairs.
TEST(LongEveryKindOfLabel, NoPairFallsInAHundredMillion) {
  for (const Kind& kind : all_kinds()) {
    const Certificate proof =
        verify(train(table_of(kind), kind.options).model, {.pairs = 12'000'000, .seed = 5});
    EXPECT_TRUE(proof.holds()) << kind.name << ": " << proof.culprits.front();
  }
}

// A table, rows of cells and one row at a time; and what is printed of the numbers.
TEST(EveryKindOfLabel, EveryPathPredictsTheSameBits) {
  for (const Kind& kind : all_kinds()) {
    const Table table = table_of(kind, kKindRows / 2);
    const Model model = train(table, kind.options).model;
    const Predictor predictor(model);
    const std::vector<float> wanted = model.predict(table);
    ASSERT_EQ(wanted.size(), table.num_rows * model.num_scores());
    const std::vector<float> rows = predictor.rows(table);
    std::vector<float> out(wanted.size());
    predictor.predict(rows, out, Output::prediction, 2);
    EXPECT_EQ(bits(out), bits(wanted)) << kind.name;
    Predictor::Scratch scratch(predictor);
    for (std::size_t r = 0; r < table.num_rows; ++r) {
      ASSERT_TRUE(predictor.predict(
          std::span(rows).subspan(r * predictor.num_cells(), predictor.num_cells()),
          std::span(out).subspan(r * model.num_scores(), model.num_scores()), scratch));
    }
    EXPECT_EQ(bits(out), bits(wanted)) << kind.name;
    const Table printed = output_table(model.schema().label, wanted);
    EXPECT_EQ(printed.num_rows, table.num_rows);
    for (const std::string& name : output_names(model.schema().label))
      EXPECT_NE(printed.find(name), nullptr) << name;
  }
}

// Stopped after each epoch and resumed, it ends with the same bytes.
TEST(EveryKindOfLabel, AStoppedRunResumesToTheSameModel) {
  for (const Kind& kind : all_kinds()) {
    const Table table = table_of(kind, kKindRows / 2);
    TrainOptions options = kind.options;
    options.ensemble = 2;
    const std::string wanted = train(table, options).model.hash();
    const TemporaryFolder folder;
    std::string found;
    for (int epochs = 1; found.empty(); ++epochs) {
      std::stop_source stop;
      int left = 1;
      TrainControl control{.stop = stop.get_token(),
                           .checkpoint = (folder / "run").string(),
                           .checkpoint_seconds = 1000,
                           .resume = true};
      control.progress = [&](const Progress& progress) {
        if (progress.epoch_finished && --left == 0) stop.request_stop();
      };
      const TrainResult result = train(table, options, control);
      if (!result.stopped) found = result.model.hash();
      ASSERT_LT(epochs, 20) << kind.name;
    }
    EXPECT_EQ(found, wanted) << kind.name;
  }
}

// Trained and proved, or refused with a reason: of classes some presets give only one number, and
// some have no calibrators that could hold the table of a pair.
TEST(EveryKindOfLabel, SuitsEveryPreset) {
  for (const Kind& kind : all_kinds()) {
    const Table table = table_of(kind, 120);
    for (const std::string& preset : preset_names()) {
      TrainOptions options = kind.options;
      options.architecture = preset;
      options.epochs = 1;
      options.ensemble = 1;
      try {
        EXPECT_TRUE(verify(train(table, options).model, {.pairs = 200}).holds()) << preset;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::argument);
        const bool reads_columns = preset == "min-max" || preset == "monotonic-dnn";
        EXPECT_TRUE((kind.options.grades.empty() && kind.table == SimulatedKind::grades) ||
                    (reads_columns && std::string(error.what()).ends_with("put cal before it")))
            << preset << ": " << error.what();
      }
    }
  }
}

TEST(EveryKindOfLabel, CanBeTuned) {
  for (const Kind& kind : all_kinds()) {
    const Table table = table_of(kind, 200);
    TrainOptions options = kind.options;
    options.epochs = 2;
    options.ensemble = 1;
    const TuneOptions tuning{.trials = 2, .confirm = 0, .folds = kind.name == "classes" ? 2 : 0};
    EXPECT_TRUE(verify(tune(table, options, tuning).trained.model).holds()) << kind.name;
  }
}

TEST(EveryKindOfLabel, LearnsMoreThanTheModelWithoutFeatures) {
  if (effort(false, true)) GTEST_SKIP() << "sanitizers do not evaluate quality";
  for (const Kind& kind : all_kinds()) {
    const Table table = table_of(kind, kRowsToLearn);
    TrainOptions options = kind.options;
    options.epochs = 30;
    TrainOptions constant = options;
    constant.epochs = 1;
    constant.learning_rate = 1e-9;
    constant.trees = 0;
    const TrainResult learned = train(table, options), flat = train(table, constant);
    const Metric metric = learned.metric;
    const double better = metric_of(evaluate(learned.model, table), metric);
    const double worse = metric_of(evaluate(flat.model, table), metric);
    EXPECT_LT(better, 0.99 * worse) << kind.name;
  }
}

TEST(EveryKindOfLabel, AmountsAreBalanced) {
  for (const Kind& kind : all_kinds()) {
    TrainOptions options = kind.options;
    options.ensemble = 3;
    const Table table = table_of(kind);
    const Model model = train(table, options).model;
    if (!model.schema().label.has_log_link()) continue;
    EXPECT_NEAR(metric_of(evaluate(model, table), Metric::balance), 1, 1e-4) << kind.name;
  }
}

// Trained for a moment, a quantile is far from where it belongs; validation rows put it there.
TEST(EveryKindOfLabel, AQuantileHasItsShareOfTheHeldOutLabelsBelowIt) {
  for (const Kind& kind : all_kinds()) {
    if (kind.name != "one quantile") continue;
    const Table table = table_of(kind);
    Table valid_rows = table_of(kind, kKindRows / 2);
    TrainOptions options = kind.options;
    options.epochs = 1;
    const Model model = train(table, options, {.valid = &valid_rows}).model;
    EXPECT_NEAR(metric_of(evaluate(model, valid_rows), Metric::coverage), 0.9,
                2.0 / (kKindRows / 2));
  }
}

// The product is the last operation.
TEST(EveryKindOfLabel, TwiceTheExposureIsTwiceThePrediction) {
  for (const Kind& kind : all_kinds()) {
    if (kind.options.exposure.empty()) continue;
    Table table = table_of(kind);
    const Model model = train(table, kind.options).model;
    std::vector<float> wanted = model.predict(table);
    for (float& value : wanted) value *= 2;
    for (Column& column : table.columns) {
      if (column.name != "exposure") continue;
      for (float& value : column.numbers) value *= 2;
    }
    EXPECT_EQ(bits(model.predict(table)), bits(wanted)) << kind.name;
  }
}

TEST(EveryKindOfLabel, LevelsNeverCrossAndProbabilitiesAddUp) {
  for (const Kind& kind : all_kinds()) {
    const Table table = table_of(kind);
    const Model model = train(table, kind.options).model;
    const Label& label = model.schema().label;
    const Table printed = output_table(label, model.predict(table));
    if (label.num_levels() > 1) {
      const std::vector<std::string> names = level_names(label);
      for (std::size_t r = 0; r < printed.num_rows; ++r) {
        for (std::size_t l = 1; l < names.size(); ++l) {
          const float before = printed.find(names[l - 1])->numbers[r];
          const float after = printed.find(names[l])->numbers[r];
          ASSERT_TRUE(label.ordered ? after <= before : before <= after) << kind.name;
        }
      }
    }
    if (label.classes.size() < 3) continue;
    for (std::size_t r = 0; r < printed.num_rows; ++r) {
      double sum = 0;
      for (const std::string& word : label.classes) {
        const float own = printed.find("p_" + word)->numbers[r];
        ASSERT_GE(own, 0) << kind.name;
        sum += own;
      }
      ASSERT_NEAR(sum, 1, 1e-5) << kind.name;
    }
  }
}

std::string why_refused(const std::vector<std::string>& increasing,
                        const std::vector<std::string>& decreasing) {
  const Kind kind{"", SimulatedKind::grades, {}};
  try {
    train(table_of(kind, 100), {.label = "grade",
                                .increasing = increasing,
                                .decreasing = decreasing,
                                .interactions = {"none"},
                                .epochs = 1});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(DirectionsOfClasses, ContradictionsAreRefusedWithTheReason) {
  EXPECT_EQ(why_refused({"low:income"}, {"severe:income"}), "");
  EXPECT_EQ(
      why_refused({"low:income", "moderate:income"}, {"low:debt_ratio", "moderate:debt_ratio"}),
      "");
  EXPECT_THAT(why_refused({"income"}, {}), HasSubstr("'high:income', or an order"));
  EXPECT_THAT(why_refused({"low:incone"}, {}), HasSubstr("did you mean 'income'?"));
  EXPECT_THAT(why_refused({"lwo:income"}, {}),
              HasSubstr("has no class 'lwo'; did you mean 'low'?"));
  EXPECT_THAT(why_refused({"low:income"}, {"low:income"}), HasSubstr("both increasing and"));
  EXPECT_THAT(why_refused({"low:income", "moderate:income", "high:income", "severe:income"}, {}),
              HasSubstr("they add up to 1"));
  EXPECT_THAT(why_refused({"low:income", "moderate:income"}, {"high:income", "severe:income"}),
              HasSubstr("'low', 'moderate' would have to keep their ratios"));
  EXPECT_THAT(why_refused({"low:income", "severe:debt_ratio"}, {}), HasSubstr("different classes"));
}

TEST(DirectionsOfClasses, TheCertificateNamesThem) {
  const Kind kind{"", SimulatedKind::grades, {}};
  const TrainResult trained =
      train(table_of(kind, 200), {.label = "grade",
                                  .increasing = {"low:income", "severe:debt_ratio"},
                                  .decreasing = {"severe:income", "low:debt_ratio"},
                                  .interactions = {"none"},
                                  .epochs = 1});
  const Certificate proof = verify(trained.model, {.pairs = 100});
  EXPECT_THAT(proof.increasing, UnorderedElementsAre("low:income", "severe:debt_ratio"));
  EXPECT_THAT(proof.decreasing, UnorderedElementsAre("severe:income", "low:debt_ratio"));
}

}  // namespace
}  // namespace espalier
