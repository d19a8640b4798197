// SPDX-License-Identifier: Apache-2.0
#include "train/trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <stop_token>
#include <string>
#include <vector>

#include "core/effort.h"
#include "core/error_of.h"
#include "core/temporary_folder.h"
#include "espalier/metrics.h"
#include "espalier/simulate.h"
#include "espalier/train.h"

namespace espalier {
namespace {

using testing::HasSubstr;

// y jumps where places drawn for the strips of another column are passed, and rises with x.
Table strips(std::size_t rows, std::uint64_t seed) {
  Random random(seed);
  Table table{.name = "strips", .num_rows = rows};
  for (const char* name : {"x", "strip", "place", "y"}) table.columns.push_back({.name = name});
  for (std::size_t r = 0; r < rows; ++r) {
    const double x = random.uniform(), strip = random.uniform(), place = random.uniform();
    const double jump = std::fmod(7.3 * std::floor(16 * strip), 1.0);
    const double y = x + (place > jump ? 1 : 0) + 0.1 * random.normal();
    const double cells[] = {x, strip, place, y};
    for (std::size_t c = 0; c < 4; ++c)
      table.columns[c].numbers.push_back(static_cast<float>(cells[c]));
  }
  return table;
}

TrainOptions plain(int trees) {
  return {.label = "y",
          .increasing = {"x"},
          .interactions = {"none"},
          .architecture = "dln(6x3)",
          .ensemble = 1,
          .trees = trees,
          .epochs = 3};
}

double error_on(const Model& model, const Table& table) {
  return evaluate(model, table).metrics.front().value;
}

std::string chosen(const TrainResult& result, const std::string& setting) {
  for (const Choice& choice : result.choices) {
    if (choice.setting == setting) return choice.value + ": " + choice.why;
  }
  return "nothing";
}

TEST(Trees, LowerTheErrorOfATableOfJumps) {
  const Table table = strips(effort(4000, 1000), 1), fresh = strips(1000, 2);
  const TrainResult without = train(table, plain(0)), with = train(table, plain(-1));
  EXPECT_LT(error_on(with.model, fresh), 0.8 * error_on(without.model, fresh));
  EXPECT_EQ(with.model.num_members(), 2);
  EXPECT_THAT(chosen(with, "tree_share"), HasSubstr("deviations lower than without trees"));
}

TEST(Trees, AreLeftOutWhereThereIsNothingToLearn) {
  Table table = strips(400, 3);
  Random random(4);
  for (float& y : table.columns.back().numbers) y = static_cast<float>(random.normal());
  const TrainResult result = train(table, plain(-1));
  EXPECT_EQ(result.options.trees, 0);
  EXPECT_EQ(result.model.num_members(), 1);
  EXPECT_THAT(chosen(result, "trees"), HasSubstr("0: "));
}

TEST(Trees, AreAsMuchOfTheMeanAsTheirShare) {
  const Table table = strips(600, 5);
  const auto predicted = [&](int trees, double share) {
    TrainOptions options = plain(trees);
    options.tree_share = share;
    return train(table, options).model.predict(table);
  };
  const std::vector<float> networks = predicted(0, 0.5), trees = predicted(20, 1);
  EXPECT_EQ(predicted(20, 0), networks);
  for (const double share : {0.1, 0.5, 0.9}) {
    const std::vector<float> both = predicted(20, share);
    for (std::size_t r = 0; r < both.size(); ++r)
      ASSERT_NEAR(both[r], (1 - share) * networks[r] + share * trees[r], 1e-4);
  }
}

TEST(Trees, AreRefusedWhereTheyCannotBeGrown) {
  const Table table = strips(300, 6);
  TrainOptions options = plain(5);
  options.quantile = {0.5};
  EXPECT_THAT(error_of([&] { train(table, options); }),
              HasSubstr("trees: only for one number or two classes"));
  options.trees = -1;
  EXPECT_EQ(train(table, options).options.trees, 0);
}

TEST(Trees, AreGrownAgainAfterAStop) {
  const Table table = strips(500, 7);
  TrainOptions options = plain(30);
  options.ensemble = 2;
  options.tree_share = 0.5;
  const std::string whole = train(table, options).model.to_bytes();
  for (const int member : {1, 2}) {
    const TemporaryFolder folder;
    std::stop_source source;
    const TrainResult stopped = train(table, options,
                                      {.progress =
                                           [&](const Progress& progress) {
                                             if (progress.trees > 3 && progress.member == member)
                                               source.request_stop();
                                           },
                                       .stop = source.get_token(),
                                       .checkpoint = folder.path().string()});
    EXPECT_TRUE(stopped.stopped);
    EXPECT_EQ(stopped.options.trees, 0);
    EXPECT_EQ(stopped.model.num_members(), 2);
    const TrainResult resumed =
        train(table, options, {.checkpoint = folder.path().string(), .resume = true});
    EXPECT_EQ(resumed.model.to_bytes() == whole, true);
  }
}

}  // namespace
}  // namespace espalier
