// SPDX-License-Identifier: Apache-2.0
// The time of explain, importance and report grows with the number of columns and not with its
// square: with many columns each gets fewer samples, and with few nothing changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "core/random.h"
#include "espalier/explain.h"
#include "espalier/json.h"
#include "espalier/page.h"
#include "espalier/train.h"
#include "explain/game_options.h"
#include "explain/row_explainer.h"

namespace espalier {
namespace {

struct Wide {
  Table table;
  Model model;
  Predictor predictor{model};
  std::vector<float> rows = predictor.rows(table);
  std::vector<float> baseline = baseline_row(model);
};

Wide wide_model(std::size_t columns, std::size_t rows) {
  Table table{.name = "wide.csv", .num_rows = rows};
  Random random(columns);
  std::vector<float> sums(rows);
  for (std::size_t c = 0; c < columns; ++c) {
    Column column{.name = "x" + std::to_string(c)};
    for (std::size_t r = 0; r < rows; ++r) {
      column.numbers.push_back(static_cast<float>(random.normal()));
      sums[r] += column.numbers.back() / static_cast<float>(c + 1);
    }
    table.columns.push_back(std::move(column));
  }
  table.columns.push_back({.name = "y", .numbers = sums});
  Model model = train(table, {.label = "y",
                              .architecture = "calibrated-linear",
                              .ensemble = 1,
                              .trees = 0,
                              .epochs = 1,
                              .threads = 1})
                    .model;
  return {std::move(table), std::move(model)};
}

TEST(ManyColumns, SamplesOfAllColumnsTogetherAreBounded) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t full = 1 + random.below(2000), least = 1 + random.below(10);
    const std::size_t columns = 1 + random.below(5000);
    const std::size_t samples = samples_per_column(full, columns, least);
    EXPECT_LE(samples, full);
    EXPECT_GE(samples, std::min(full, least));
    if (columns <= 100) {
      EXPECT_EQ(samples, full);
    } else if (samples > least) {
      EXPECT_LE(samples * columns, full * 100);
    }
  }
}

TEST(ManyColumns, TheNumberOfOrdersDependsOnHowManyColumnsDiffer) {
  const GamePlan open = make_plan(5000, 16, 0, 128, 1), given = make_plan(5000, 16, 128, 8, 1);
  for (const std::size_t players : {17, 50, 100}) EXPECT_EQ(open.num_orders(players), 128u);
  EXPECT_EQ(open.num_orders(200), 64u);
  EXPECT_EQ(open.num_orders(800), 16u);
  EXPECT_EQ(open.num_orders(5000), 4u);
  for (const std::size_t players : {17, 800, 5000}) EXPECT_EQ(given.num_orders(players), 128u);
}

TEST(ManyColumns, ARowTakesTheFirstOrdersAndWithFewColumnsAllOfThem) {
  constexpr std::size_t kRows = 12;
  for (const std::size_t columns : {20, 160}) {
    const Wide wide = wide_model(columns, kRows);
    for (std::size_t r = 0; r < kRows; ++r) {
      const auto shares = [&](int permutations) {
        return explain(wide.predictor, std::span(wide.rows).subspan(r * columns, columns),
                       wide.baseline,
                       {.exact_columns = 0, .permutations = permutations, .threads = 1})
            .shares;
      };
      const std::vector<double> open = shares(0);
      const auto differing = columns - static_cast<std::size_t>(std::ranges::count(open, 0.0));
      const auto wanted = static_cast<int>(2 * samples_per_column(64, differing, 2));
      EXPECT_EQ(open, shares(wanted)) << columns << ", " << differing;
      EXPECT_EQ(wanted == 128, columns == 20);
    }
  }
}

TEST(ManyColumns, AreShuffledAmongFewerRows) {
  const auto rows = [](const Wide& wide, std::size_t shuffled_rows) {
    return importance(
               wide.model, wide.table,
               {.repeats = 1, .shared_rows = 0, .shuffled_rows = shuffled_rows, .threads = 1})
        .rows;
  };
  const Wide few = wide_model(20, 600), many = wide_model(200, 600);
  EXPECT_EQ(rows(few, 0), 600u);
  EXPECT_EQ(rows(few, 50), 50u);
  EXPECT_EQ(rows(many, 0), 300u);
  EXPECT_EQ(rows(many, 5000), 600u);
}

TEST(ManyColumns, LongWorkSaysHowFarItIs) {
  const Wide many = wide_model(150, 220);
  std::vector<std::size_t> rows;
  explain(many.predictor, many.rows, many.baseline,
          {.permutations = 4, .threads = 1, .progress = [&](std::size_t done) {
             rows.push_back(done);
           }});
  EXPECT_TRUE(std::ranges::is_sorted(rows));
  EXPECT_GE(rows.size(), 220u / 8);
  std::vector<double> shares;
  const std::string page = page_html(
      many.model, many.table, {.pairs = 100, .threads = 1, .progress = [&](double share, auto) {
                                 shares.push_back(share);
                               }});
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_GE(shares.size(), 150u);
}

}  // namespace
}  // namespace espalier
