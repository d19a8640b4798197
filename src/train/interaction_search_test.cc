// SPDX-License-Identifier: Apache-2.0
#include "train/interaction_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error_of.h"
#include "core/temporary_folder.h"
#include "espalier/certificate.h"
#include "espalier/json.h"
#include "espalier/report.h"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// y rises with `up`; `lon` and `lat` matter by the square of a board that they lie on, `squares` a
// side, black or white at random; town is noise.
Table board(std::size_t rows, std::size_t squares, Task task, std::uint64_t seed = 1) {
  Random random(seed);
  std::vector<double> colours{0};
  for (std::size_t s = 0; s < squares * squares; ++s)
    colours.push_back(random.uniform() < 0.5 ? -1 : 1);
  Table table{.name = "board", .num_rows = rows};
  table.columns = {{.name = "up"},
                   {.name = "lon"},
                   {.name = "lat"},
                   {.name = "town", .type = ColumnType::category, .words = {"a", "b", "c"}},
                   {.name = "y"}};
  for (std::size_t r = 0; r < rows; ++r) {
    const double up = random.uniform(), lon = random.uniform(), lat = random.uniform();
    const auto square = [squares](double x) {
      return static_cast<std::size_t>(static_cast<double>(squares) * x);
    };
    const std::size_t place = squares == 0 ? 0 : 1 + square(lon) * squares + square(lat);
    double y = up + colours[place] + 0.5 * random.normal();
    if (task == Task::classification) y = y > 0.5 ? 1 : 0;
    for (std::size_t c = 0; const double cell : {up, lon, lat})
      table.columns[c++].numbers.push_back(static_cast<float>(cell));
    table.columns[3].codes.push_back(static_cast<std::int32_t>(random.below(3)));
    table.columns[4].numbers.push_back(static_cast<float>(y));
  }
  return table;
}

TrainOptions board_options() {
  return {.label = "y",
          .increasing = {"up"},
          .architecture = "dln(6x3)",
          .ensemble = 1,
          .trees = 0,
          .epochs = 8,
          .learning_rate = 0.03,
          .threads = 2};
}

TEST(InteractionSearch, FindsTheBoardForEveryTask) {
  for (const Task task : {Task::regression, Task::classification}) {
    const Table table = board(4000, 8, task);
    const TrainResult found = train(table, board_options());
    EXPECT_THAT(found.options.interactions, ElementsAre(StartsWith("lon*lat:")));
    ASSERT_EQ(found.choices.size(), 1u);
    EXPECT_THAT(found.choices[0].why, HasSubstr("deviations lower"));
    TrainOptions plain = board_options();
    plain.interactions = {"none"};
    const double with = found.best[0].valid_metric;
    EXPECT_LT(with, 0.9 * train(table, plain).best[0].valid_metric);
    EXPECT_TRUE(verify(found.model).holds());
  }
}

// The board is there whatever the seed, and one fold alone is too noisy to show it with most of them.
TEST(InteractionSearch, AsksMoreRowsWhereOneFoldLeavesADoubt) {
  constexpr double kNoise = 1.3;
  Table table = board(3000, 6, Task::regression);
  Random random(9);
  for (float& y : table.columns.back().numbers) y += static_cast<float>(kNoise * random.normal());
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    TrainOptions options = board_options();
    options.seed = seed;
    found += train(table, options).options.interactions.front().starts_with("lon*lat:") ? 1 : 0;
  }
  EXPECT_GE(found, 5);
}

// y jumps where `up` passes a place that is drawn for each of some strips of `lon`: it never falls
// with `up`, and the two columns matter together.
Table strips(std::size_t rows) {
  Table table = board(rows, 0, Task::regression, 2);
  Random random(3);
  std::vector<float> places;
  for (int strip = 0; strip < 6; ++strip) places.push_back(static_cast<float>(random.uniform()));
  for (std::size_t r = 0; r < rows; ++r) {
    const float up = table.columns[0].numbers[r], lon = table.columns[1].numbers[r];
    table.columns[4].numbers[r] += up > places[static_cast<std::size_t>(6 * lon)] ? 2 : 0;
  }
  return table;
}

TEST(InteractionSearch, FindsAPairWithAMonotoneColumn) {
  const Table table = strips(4000);
  const TrainResult found = train(table, board_options());
  ASSERT_THAT(found.options.interactions, ElementsAre(StartsWith("up*lon:")))
      << found.choices.at(0).why;
  EXPECT_TRUE(found.model.schema().pairs.at(0).is_grid());
  TrainOptions plain = board_options();
  plain.interactions = {"none"};
  EXPECT_LT(found.best[0].valid_metric, 0.95 * train(table, plain).best[0].valid_metric);
  EXPECT_TRUE(verify(found.model, {.pairs = 10'000}).holds());
}

TEST(InteractionSearch, FindsNothingWhereNothingIs) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const TrainResult result = train(board(3000, 0, Task::regression, seed), board_options());
    EXPECT_THAT(result.options.interactions, ElementsAre("none"));
    EXPECT_TRUE(result.model.schema().pairs.empty());
  }
}

TEST(InteractionSearch, WithoutPairsTheModelIsThatOfNone) {
  const Table table = board(2000, 0, Task::regression);
  TrainOptions none = board_options();
  none.interactions = {"none"};
  EXPECT_EQ(train(table, board_options()).model.to_bytes(), train(table, none).model.to_bytes());
}

TEST(InteractionSearch, SameBytesForAnyNumberOfThreads) {
  const Table table = board(2500, 6, Task::classification);
  TrainOptions options = board_options();
  const std::string bytes = train(table, options).model.to_bytes();
  for (const int threads : {1, 3}) {
    options.threads = threads;
    EXPECT_TRUE(train(table, options).model.to_bytes() == bytes) << threads;
  }
}

TEST(InteractionSearch, RecordedPairsTrainTheSameModel) {
  for (const std::size_t rows : {900u, 3000u}) {  // too few to search, and enough
    const Table table = board(rows, 6, Task::regression);
    for (const char* wanted : {"auto", "lon*lat", "town*lat:9", "up*lon", "town*up:3"}) {
      for (const char* architecture :
           {"dln(6x3)", "random-lattices(4x3)", "crystals(4x2)", "cal(9) lin(1)", "cal(5) lat"}) {
        TrainOptions options = board_options();
        options.interactions = {wanted};
        options.architecture = architecture;
        options.epochs = 2;
        const TrainResult first = train(table, options);
        TrainOptions recorded;
        apply_json(recorded, Json::parse(first.model.training_json()).at("options").dump(),
                   "model");
        EXPECT_TRUE(train(table, recorded).model.to_bytes() == first.model.to_bytes())
            << wanted << ' ' << architecture;
        const Model loaded = Model::from_bytes(first.model.to_bytes());
        EXPECT_TRUE(loaded.to_bytes() == first.model.to_bytes());
        EXPECT_EQ(loaded.predict(table), first.model.predict(table));
        if (options.interactions != TrainOptions().interactions) {
          EXPECT_EQ(loaded.schema().pairs.size(), 1u);
        }
      }
    }
  }
}

TEST(InteractionSearch, LayersAndOtherPresetsGetNoPairsUnasked) {
  const Table table = board(3000, 8, Task::regression);
  for (const char* architecture : {"cal(9) lin(12) cal(9) lat(4x3) lin(1)", "random-lattices(4x3)",
                                   "dln-paper(4x3)", "calibrated-linear"}) {
    TrainOptions options = board_options();
    options.architecture = architecture;
    options.epochs = 1;
    EXPECT_THAT(train(table, options).options.interactions, ElementsAre("none")) << architecture;
  }
}

// Stopped at each of several moments of the search and of training, then continued.
TEST(InteractionSearch, AStoppedRunThatIsResumedGivesTheSameBytes) {
  const Table table = board(2000, 6, Task::classification);
  const std::string bytes = train(table, board_options()).model.to_bytes();
  for (const double share : {0.05, 0.4, 0.9}) {
    const TemporaryFolder folder;
    std::stop_source stop;
    TrainControl control{
        .progress =
            [&](const Progress& now) {
              if (static_cast<double>(now.rows_done) > share * static_cast<double>(now.rows_total))
                stop.request_stop();
            },
        .stop = stop.get_token(),
        .checkpoint = folder.path(),
        .checkpoint_seconds = 0};
    error_of([&] { train(table, board_options(), control); });
    EXPECT_TRUE(stop.stop_requested());
    const TrainControl resumed{.checkpoint = folder.path(), .resume = true};
    EXPECT_TRUE(train(table, board_options(), resumed).model.to_bytes() == bytes) << share;
  }
}

TEST(InteractionSearch, InspectShowsThePairAndItsSurface) {
  TrainOptions options = board_options();
  options.interactions = {"lon*lat:8", "town*lon:4", "up*lon:5"};
  options.epochs = 20;
  const Model model = train(board(3000, 4, Task::regression), options).model;
  EXPECT_THAT(inspect_text(model), HasSubstr("lon*lat"));
  const Json pairs = Json::parse(inspect_json(model)).at("pairs");
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].at("columns"), Json::array({"lon", "lat"}));
  EXPECT_EQ(pairs[0].at("scores").size(), 8u);
  EXPECT_EQ(pairs[0].at("scores")[0].size(), 8u);
  EXPECT_EQ(pairs[1].at("cells")[0].size(), 4u);
  EXPECT_EQ(pairs[1].at("cells")[0][3], "(unseen)");
  EXPECT_GT(pairs[0].at("strength").get<double>(), 0.5);
  EXPECT_LT(pairs[1].at("strength").get<double>(), 0.3);
  EXPECT_EQ(pairs[2].at("kind"), "table");
  ASSERT_EQ(pairs[2].at("scores").size(), 5u);
  for (std::size_t k = 1; k < 5; ++k) {
    for (std::size_t l = 0; l < 5; ++l)
      EXPECT_LE(pairs[2].at("scores")[k - 1][l].get<double>(),
                pairs[2].at("scores")[k][l].get<double>());
  }
}

}  // namespace
}  // namespace espalier
