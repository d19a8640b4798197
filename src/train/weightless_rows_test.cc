// SPDX-License-Identifier: Apache-2.0
// The law of weights: a row of weight 0 and an absent row train the same model, to the byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/random.h"
#include "espalier/csv.h"
#include "espalier/disk_table.h"
#include "espalier/simulate.h"
#include "espalier/tune.h"
#include "support/effort.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/thread_ranks.h"
#include "train/train_on.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

struct WeightedKind {
  std::string name;
  SimulatedKind table;
  TrainOptions options;
};

std::vector<WeightedKind> weighted_kinds() {
  using enum SimulatedKind;
  std::vector<WeightedKind> kinds = {
      {"two classes", loans, {.label = "default", .increasing = {"debt_ratio"}}},
      {"balanced classes",
       loans,
       {.label = "default", .class_weight = ClassWeight::balanced, .ensemble = 2}},
      {"trees", loans, {.label = "default", .trees = 5, .tree_leaves = 6, .tree_share = 0.6}},
      {"classes", grades, {.label = "grade"}},
      {"grades", grades, {.label = "grade", .grades = "low<moderate<high<severe"}},
      {"counts",
       claims,
       {.label = "claims",
        .exposure = "exposure",
        .interactions = {"auto"},
        .loss = Loss::poisson}},
      {"quantiles", prices, {.label = "interest", .quantile = {0.1, 0.9}}},
      {"number", prices, {.label = "interest", .max_categories = 3}},
  };
  for (WeightedKind& kind : kinds) {
    kind.options.weight = "weight";
    kind.options.architecture = "cal(6) lin(4) lin(1)";
    if (kind.name == "classes") kind.options.architecture = "cal(6) lin(4) lin";
    kind.options.trees = kind.options.trees.value_or(0);  // only where it says so
    kind.options.epochs = 2;
    kind.options.batch_size = 512;
    kind.options.threads = 1;
  }
  return kinds;
}

// Lines of a data file. Most weights have digits that a sum of doubles rounds.
std::vector<std::string> lines_of(SimulatedKind kind, std::int64_t rows, Random& random) {
  Table table = simulate({.kind = kind, .rows = rows, .numbers = 4, .categories = 2});
  Column weight{.name = "weight"};
  for (std::size_t row = 0; row < table.num_rows; ++row)
    weight.numbers.push_back(static_cast<float>(0.001 + 3 * random.uniform()));
  table.columns.push_back(std::move(weight));
  std::string text;
  write_csv(table, [&](std::string_view piece) { text += piece; });
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// A row of weight 0 whose other values are missing, far outside of the range or unseen, and which
// would be refused where they are the label or the exposure.
std::string weightless_line(const Table& table, Random& random) {
  std::string line;
  for (const Column& column : table.columns) {
    if (column.name == "weight") continue;
    const std::uint64_t choice = random.below(4);
    if (column.type == ColumnType::category) {
      line += choice == 0   ? ""
              : choice == 1 ? column.categories.front()
                            : "unseen" + std::to_string(random.below(5));
    } else {
      line += choice == 0 ? "" : choice == 1 ? "-7e8" : std::to_string(random.uniform() * 1e4);
    }
    line += ",";
  }
  return line + "0";
}

// The weight is the last column.
std::string with_weightless_rows(std::vector<std::string> lines, Random& random) {
  const Table table = parse_csv(joined(lines));
  for (std::uint64_t count = 1 + random.below(lines.size()); count > 0; --count) {
    const auto at = static_cast<std::ptrdiff_t>(1 + random.below(lines.size()));
    lines.insert(lines.begin() + at, weightless_line(table, random));
  }
  return joined(lines);
}

std::string model_of(const Table& table, const TrainOptions& options, std::size_t many_rows,
                     const TrainControl& control) {
  return train_on({.table = table, .many_rows = many_rows}, options, control).model.to_bytes();
}

class WeightlessRows {
 public:
  WeightlessRows(const WeightedKind& kind, std::uint64_t seed) : kind_(kind), random_(seed) {
    std::vector<std::string> lines =
        lines_of(kind.table, 200 + static_cast<std::int64_t>(random_.below(200)), random_);
    present_ = with_weightless_rows(lines, random_);
    absent_ = joined(lines);
    std::ofstream(path(), std::ios::binary) << present_;
  }

  void expect_same_in_memory() {
    for (const std::size_t many_rows : {kManyRows, std::size_t{64}}) {
      EXPECT_EQ(model(parse_csv(present_), many_rows) == alone(many_rows), true)
          << kind_.name << ", " << many_rows;
    }
  }

  void expect_same_from_disk() {
    const std::string scratch = (folder_ / "scratch").string();
    std::filesystem::create_directory(scratch);
    const Table on_disk = read_csv_to_disk(path(), {}, {scratch});
    EXPECT_EQ(model(on_disk, 64, {.scratch = scratch}) == alone(64), true) << kind_.name;
  }

  void expect_same_on_ranks() {
    const std::string wanted = alone(64);
    const Table table = parse_csv(present_);
    on_ranks(3, [&](Ranks& ranks) {
      EXPECT_EQ(model(table, 64, {.ranks = &ranks}) == wanted, true) << kind_.name;
      const auto [first, last] = rows_of_rank(ranks, table.num_rows);
      Table share = take_rows(table, rows_between(first, last));
      share.first_row = first;
      EXPECT_EQ(model(share, 64, {.ranks = &ranks}) == wanted, true) << kind_.name << ", shares";
    });
  }

  void expect_same_with_a_validation_set() {
    const Table present = parse_csv(present_), absent = parse_csv(absent_);
    EXPECT_EQ(model(present, kManyRows, {.valid = &present}) ==
                  model(absent, kManyRows, {.valid = &absent}),
              true)
        << kind_.name;
  }

  void expect_same_search() {
    const TuneOptions tune_options{.trials = 2, .folds = 3};
    const auto bytes = [&](const std::string& text) {
      return tune(parse_csv(text), kind_.options, tune_options, {}).trained.model.to_bytes();
    };
    EXPECT_EQ(bytes(present_) == bytes(absent_), true) << kind_.name;
  }

 private:
  std::string path() const { return (folder_ / "t.csv").string(); }

  std::string model(const Table& table, std::size_t many_rows,
                    const TrainControl& control = {}) const {
    TrainOptions options = kind_.options;
    if (many_rows == 64) options.trees = 0;  // they would be refused
    return model_of(table, options, many_rows, control);
  }

  std::string alone(std::size_t many_rows) const { return model(parse_csv(absent_), many_rows); }

  const WeightedKind& kind_;
  Random random_;
  TemporaryFolder folder_;
  std::string present_, absent_;
};

const std::uint64_t kWeightedTables = effort(2, 1);

TEST(WeightlessRows, TrainTheModelOfTheTableWithoutThem) {
  for (const WeightedKind& kind : weighted_kinds()) {
    for (std::uint64_t seed = 1; seed <= kWeightedTables; ++seed) {
      WeightlessRows rows(kind, seed);
      rows.expect_same_in_memory();
      rows.expect_same_from_disk();
      rows.expect_same_on_ranks();
      rows.expect_same_with_a_validation_set();
    }
  }
}

TEST(WeightlessRows, DoNotChangeASearch) {
  const std::vector<WeightedKind> kinds = weighted_kinds();
  WeightlessRows(kinds.front(), 1).expect_same_search();
}

TEST(WeightlessRows, AreRefusedWhereThereAreNoOthers) {
  const Table table = parse_csv("x,y,w\n1,0,0\n2,1,0\n", {}, "t.csv");
  EXPECT_THAT(
      error_of([&] { train(table, {.label = "y", .weight = "w"}); }),
      HasSubstr("t.csv: column 'w': the weight is 0 in all 2 rows; wanted a weight above 0"));
}

}  // namespace
}  // namespace espalier
