// SPDX-License-Identifier: Apache-2.0
// Time grows with the size of a table and not with its square: four times the columns, words or
// letters take less than eight times the processor time, where a square would take sixteen. Ratios
// within one process, so that the machine does not matter; but clocks are clocks, so these are long
// tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "core/random.h"
#include "espalier/error.h"
#include "espalier/explain.h"
#include "espalier/page.h"
#include "espalier/table.h"
#include "espalier/train.h"

namespace espalier {
namespace {

// The least of three.
template <class Work>
double cpu_seconds(const Work& work) {
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const std::clock_t begin = std::clock();
    work();
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

// work_of(n) is what takes time that should grow with n.
template <class WorkOf>
void expect_linear(std::size_t n, const WorkOf& work_of) {
  work_of(n)();  // memory that is fetched for the first time is not counted
  const double once = cpu_seconds(work_of(n)), four_times = cpu_seconds(work_of(4 * n));
  EXPECT_LT(four_times, 8 * once + 0.02) << once << " s, then " << four_times << " s";
}

TrainOptions options() {
  return {.label = "y",
          .max_categories = 1'000'000,
          .architecture = "calibrated-linear",
          .ensemble = 1,
          .epochs = 1,
          .threads = 1};
}

Table labelled(std::size_t rows) {
  Table table{.name = "table", .columns = {{.name = "y"}}, .num_rows = rows};
  for (std::size_t r = 0; r < rows; ++r)
    table.columns[0].numbers.push_back(static_cast<float>(r % 7));
  return table;
}

TEST(LongLinearTime, InTheColumns) {
  expect_linear(20'000, [](std::size_t n) {
    Table table = labelled(4);
    for (std::size_t c = 0; c < n; ++c)
      table.columns.push_back({.name = "x" + std::to_string(c), .numbers = {1, 2, 3, 4}});
    return [table] { train(table, options()); };
  });
}

// What explains a model with so many columns; training is not counted.
template <class Work>
auto explained(const Work& work) {
  return [work](std::size_t columns) {
    Table table{.name = "table", .num_rows = 400};
    Random random(1);
    for (std::size_t c = 0; c < columns; ++c) {
      table.columns.push_back({.name = "x" + std::to_string(c)});
      for (std::size_t r = 0; r < table.num_rows; ++r)
        table.columns.back().numbers.push_back(static_cast<float>(random.normal()));
    }
    table.columns.push_back(labelled(table.num_rows).columns[0]);
    const Model model = train(table, options()).model;
    return [table, model, work] { work(model, table); };
  };
}

TEST(LongLinearTime, OfExplainInTheColumns) {
  expect_linear(200, explained([](const Model& model, const Table& table) {
                  const Predictor predictor(model);
                  const std::vector<float> rows = predictor.rows(table);
                  explain(predictor, std::span(rows).first(20 * predictor.num_cells()),
                          baseline_row(model), {.threads = 1});
                }));
}

TEST(LongLinearTime, OfImportanceInTheColumns) {
  expect_linear(50, explained([](const Model& model, const Table& table) {
                  importance(model, table, {.repeats = 1, .shared_rows = 5, .threads = 1});
                }));
}

TEST(LongLinearTime, OfThePageInTheColumns) {
  expect_linear(200, explained([](const Model& model, const Table& table) {
                  page_html(model, table, {.pairs = 100, .threads = 1});
                }));
}

TEST(LongLinearTime, InTheWordsAlsoWhereMostAreUnseen) {
  expect_linear(20'000, [](std::size_t n) {
    Table table = labelled(n);
    Column words{.name = "word", .type = ColumnType::category};
    for (std::size_t r = 0; r < n; ++r) {
      words.categories.push_back("w" + std::to_string(r));
      words.codes.push_back(static_cast<std::int32_t>(r));
    }
    table.columns.push_back(std::move(words));
    return [table] { train(table, options()); };
  });
}

TEST(LongLinearTime, InTheLettersOfANameThatIsWrong) {
  expect_linear(1'000'000, [](std::size_t n) {
    Table table = labelled(4);
    table.columns.push_back({.name = std::string(n, 'a'), .numbers = {1, 2, 3, 4}});
    TrainOptions wrong = options();
    wrong.label = std::string(n, 'a') + "b";
    return [table, wrong] { EXPECT_THROW(train(table, wrong), Error); };
  });
}

}  // namespace
}  // namespace espalier
