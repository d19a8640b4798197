// SPDX-License-Identifier: Apache-2.0
#include "train/trees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/file.h"
#include "espalier/certificate.h"
#include "espalier/metrics.h"
#include "espalier/simulate.h"
#include "espalier/train.h"
#include "support/effort.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "train/train_on.h"

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

TrainOptions plain(Auto<int> trees) {
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

// The same with y cut into three grades.
Table graded(Table table) {
  for (float& y : table.columns.back().numbers) y = std::clamp(std::floor(y), 0.0f, 2.0f);
  return table;
}

TEST(Trees, LowerTheErrorOfATableOfJumpsForEveryKindOfLabelThatTheyAreFor) {
  using Change = std::function<void(TrainOptions&)>;
  const Table table = strips(effort(4000, 1000), 1), fresh = strips(1000, 2);
  const std::pair<double, Change> kinds[] = {
      {0.8, [](TrainOptions&) {}},
      {0.9, [](TrainOptions& options) { options.loss = Loss::absolute_error; }},
      {0.9, [](TrainOptions& options) { options.quantile = {0.9}; }},
      {0.9,
       [](TrainOptions& options) {
         options.quantile = {0.1, 0.5, 0.9};
       }},
      {0.9, [](TrainOptions& options) { options.grades = "0<1<2"; }}};
  for (const auto& [share, change] : kinds) {
    TrainOptions networks = plain(0), both = plain({});
    for (TrainOptions* options : {&networks, &both}) change(*options);
    const bool is_graded = !both.grades.empty();
    const Table &own = is_graded ? graded(table) : table,
                &scored = is_graded ? graded(fresh) : fresh;
    const TrainResult without = train(own, networks), with = train(own, both);
    EXPECT_LT(error_on(with.model, scored), share * error_on(without.model, scored));
    EXPECT_EQ(with.model.num_members(), 2);
    EXPECT_THAT(chosen(with, "tree_share"), HasSubstr("improves the validation loss by"));
  }
}

TEST(Trees, AreLeftOutWhereThereIsNothingToLearn) {
  Table table = strips(400, 3);
  Random random(4);
  for (float& y : table.columns.back().numbers) y = static_cast<float>(random.normal());
  const TrainResult result = train(table, plain({}));
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

// On the same rows half as many forests as networks are grown; the mixing weight is that of all of
// them together.
TEST(Trees, FewerForestsThanNetworksWeighAsMuchAsTheirShare) {
  const Table table = strips(5000, 8), valid = strips(200, 9);
  const auto trained = [&](int trees, double share) {
    TrainOptions options = plain(trees);
    options.ensemble = 2;
    options.epochs = 1;
    options.tree_share = share;
    return train(table, options, {.valid = &valid}).model;
  };
  const Model both = trained(5, 0.3);
  EXPECT_EQ(both.num_members(), 3);
  EXPECT_TRUE(verify(both).holds());
  const std::vector<float> networks = trained(0, 0.5).predict(valid),
                           trees = trained(5, 1).predict(valid), mean = both.predict(valid);
  for (std::size_t r = 0; r < mean.size(); ++r)
    ASSERT_NEAR(mean[r], 0.7 * networks[r] + 0.3 * trees[r], 1e-4);
}

TEST(Trees, AreRefusedWhereTheyCannotBeGrown) {
  const Table table = strips(300, 6);
  TrainOptions classes = plain(5);
  classes.increasing = {};
  classes.task = Task::classification;
  const Table words = graded(table);
  EXPECT_THAT(error_of([&] { train(words, classes); }),
              HasSubstr("trees: 5: classes without an order cannot have trees; set trees to 0"));
  classes.trees = {};
  EXPECT_EQ(train(words, classes).options.trees, 0);

  TrainOptions levels = plain(5);
  for (int q = 1; q <= 255; ++q) levels.quantile.push_back(q / 256.0);
  EXPECT_THAT(
      error_of([&] { train(table, levels); }),
      HasSubstr("trees: 5: trees take at most 254 quantiles, and there are 255; set trees to 0"));
  levels.quantile = {0.1, 0.5, 0.9};
  levels.tree_share = 0.5;
  const auto train_with = [&](std::size_t many_rows) {
    return train_on({.table = table, .many_rows = many_rows}, levels, {}).options.trees;
  };
  const std::size_t rows = 3 * 240;  // a fifth is held out
  EXPECT_EQ(train_with(rows + 1), 5);
  EXPECT_THAT(
      error_of([&] { train_with(rows); }),
      HasSubstr("trees: 5: trees take fewer than 720 rows, times 3 quantiles, and there are 240"));
}

TEST(Trees, GrowOnAfterAStop) {
  const Table table = strips(500, 7);
  TrainOptions options = plain(30);
  options.ensemble = 2;
  options.tree_share = 0.5;
  options.threads = 1;  // network 1, forest 1, network 2, forest 2
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
    EXPECT_EQ(stopped.model.num_members(), member);
    int least = 1000;
    const TrainResult resumed = train(table, options,
                                      {.progress =
                                           [&](const Progress& progress) {
                                             if (progress.trees > 0 && progress.member == member)
                                               least = std::min(least, progress.trees);
                                           },
                                       .checkpoint = folder.path().string(),
                                       .resume = true});
    EXPECT_EQ(resumed.model.to_bytes() == whole, true);
    EXPECT_GT(least, 3);
  }
}

// A run is killed while trees grow, at each of the points where a checkpoint may lie: what it
// leaves is a copy of its folder. A resumed run grows none of the trees that are in it.
TEST(Trees, GrowOnFromEveryPointWhereARunIsKilled) {
  const Table table = strips(200, 7);
  TrainOptions options = plain(effort(105, 20));
  options.tree_rate = 0.03;
  options.ensemble = 2;
  options.epochs = 1;
  options.tree_share = 0.5;
  options.tree_leaves = 6;
  options.threads = 1;
  struct Point {
    int member;
    int trees;
    std::string checkpoint;
  };
  std::vector<Point> points;
  const TemporaryFolder folder;
  const auto only_file = [&] { return std::filesystem::directory_iterator(folder.path())->path(); };
  const std::string whole =
      train(table, options,
            {.progress =
                 [&](const Progress& progress) {
                   if (progress.trees == 0) return;
                   points.push_back({progress.member, progress.trees,
                                     std::string(read_file(only_file()).view())});
                 },
             .checkpoint = folder.path().string(),
             .checkpoint_seconds = 0})
          .model.to_bytes();
  const std::filesystem::path name = only_file().filename();
  ASSERT_GE(points.size(), effort<std::size_t>(200, 30));
  for (const Point& point : points) {
    const TemporaryFolder copy;
    write_file_atomically(copy.path() / name, point.checkpoint);
    int first = 0;
    const Model resumed = train(table, options,
                                {.progress =
                                     [&](const Progress& progress) {
                                       if (progress.member == point.member && first == 0)
                                         first = progress.trees;
                                     },
                                 .checkpoint = copy.path().string(),
                                 .resume = true})
                              .model;
    ASSERT_TRUE(resumed.to_bytes() == whole) << point.member << ", " << point.trees;
    ASSERT_EQ(first, point.trees);
  }
}

}  // namespace
}  // namespace espalier
