// SPDX-License-Identifier: Apache-2.0
#include "train/interaction_search.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "espalier/certificate.h"
#include "espalier/inspect.h"
#include "espalier/json.h"
#include "support/bytes_without_choices.h"
#include "support/effort.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/thread_ranks.h"
#include "train/train_on.h"

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
                   {.name = "town", .type = ColumnType::category, .categories = {"a", "b", "c"}},
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

// A label drawn from a score, and the options that it needs.
struct Case {
  std::string name;
  TrainOptions options;
  std::function<double(double score, double exposure, Random&)> draw;
};

double draw_count(double mean, Random& random) {
  double count = 0;
  for (double left = mean + std::log(random.uniform() + 1e-12); left > 0; ++count)
    left += std::log(random.uniform() + 1e-12);
  return count;
}

std::vector<Case> all_cases() {
  const auto with = [](auto&& change) {
    TrainOptions options = board_options();
    options.epochs = 6;
    change(options);
    return options;
  };
  const auto number = [](double score, double, Random& random) { return score + random.normal(); };
  const auto amount = [](double score, double, Random& random) {
    return std::exp(score + 0.5 * random.normal());
  };
  return {{"squared error", with([](TrainOptions&) {}), number},
          {"weighted rows", with([](TrainOptions& o) { o.weight = "weight"; }), number},
          {"absolute error", with([](TrainOptions& o) { o.loss = Loss::absolute_error; }), number},
          {"quantile levels", with([](TrainOptions& o) {
             o.quantile = {0.1, 0.5, 0.9};
           }),
           number},
          {"two classes", with([](TrainOptions&) {}),
           [](double score, double, Random& random) {
             return 2 * score + random.normal() > 1 ? 1.0 : 0.0;
           }},
          {"grades", with([](TrainOptions& o) { o.grades = "0<1<2<3"; }),
           [](double score, double, Random& random) {
             return std::clamp(std::floor(score + random.normal() + 1.5), 0.0, 3.0);
           }},
          {"counts", with([](TrainOptions& o) { o.loss = Loss::poisson, o.exposure = "exposure"; }),
           [](double score, double exposure, Random& random) {
             return draw_count(exposure * std::exp(score), random);
           }},
          {"gamma", with([](TrainOptions& o) { o.loss = Loss::gamma; }), amount},
          {"gamma in other units", with([](TrainOptions& o) { o.loss = Loss::gamma; }),
           [=](double score, double, Random& random) { return 1e6 * amount(score, 1, random); }},
          {"tweedie", with([](TrainOptions& o) { o.loss = Loss::tweedie; }),
           [=](double score, double, Random& random) {
             return random.uniform() < 0.3 ? 0 : amount(score, 1, random);
           }}};
}

// The board's table with a label of the case: `size` times the color of the square, `up`, and a
// curve of `lon`. lat is near lon.
Table table_of(const Case& own, double size, std::uint64_t seed, std::size_t rows = 4000) {
  Table table = board(rows, 0, Task::regression, seed);
  Random random = Random(seed).split(1);
  std::vector<float>& lat = table.columns[2].numbers;
  std::vector<float> weights, exposures;
  for (std::size_t r = 0; r < rows; ++r) {
    const double up = table.columns[0].numbers[r], lon = table.columns[1].numbers[r];
    if (r % 2 == 0) lat[r] = static_cast<float>(0.9 * lon + 0.1 * lat[r]);
    const int square = static_cast<int>(6 * lon) * 5 + static_cast<int>(6 * lat[r]) * 7;
    const double color = (square * square) % 11 > 4 ? 1 : -1;
    weights.push_back(static_cast<float>(0.5 + random.uniform()));
    exposures.push_back(static_cast<float>(0.5 + random.uniform()));
    const double score = up + std::sin(6 * lon) + lat[r] * lat[r] + size * color;
    table.columns[4].numbers[r] = static_cast<float>(own.draw(score, exposures[r], random));
  }
  if (!own.options.weight.empty())
    table.columns.push_back({.name = "weight", .numbers = std::move(weights)});
  if (!own.options.exposure.empty())
    table.columns.push_back({.name = "exposure", .numbers = std::move(exposures)});
  return table;
}

TEST(InteractionSearch, FindsThePlantedPairForEveryLossAndSeed) {
  for (const Case& own : all_cases()) {
    for (std::uint64_t seed = 1; seed <= effort(2u, 1u); ++seed) {
      TrainOptions options = own.options;
      options.seed = seed;
      const TrainResult found = train(table_of(own, 1, seed), options);
      EXPECT_THAT(found.options.interactions, ElementsAre(StartsWith("lon*lat:")))
          << own.name << ", seed " << seed;
      ASSERT_EQ(found.choices.size(), 1u);
      EXPECT_THAT(found.choices[0].why, HasSubstr("out-of-fold deviance improves by"));
    }
  }
}

TEST(InteractionSearch, FindsAPairInAdditiveDataAtMostOnceInFortySearches) {
  int found = 0;
  for (const Case& own : all_cases()) {
    for (std::uint64_t seed = 1; seed <= effort(4u, 1u); ++seed) {
      TrainOptions options = own.options;
      options.seed = seed;
      const TrainResult result = train(table_of(own, 0, seed), options);
      const bool is_none = result.options.interactions.front() == "none";
      EXPECT_EQ(result.model.schema().pairs.empty(), is_none);
      found += is_none ? 0 : 1;
    }
  }
  EXPECT_LE(found, 1);
}

TEST(InteractionSearch, APairImprovesTheModel) {
  for (const Task task : {Task::regression, Task::classification}) {
    const Table table = board(4000, 8, task);
    const TrainResult found = train(table, board_options());
    EXPECT_THAT(found.options.interactions, ElementsAre(StartsWith("lon*lat:")));
    TrainOptions plain = board_options();
    plain.interactions = {"none"};
    const double with = found.best[0].valid_metric;
    EXPECT_LT(with, 0.9 * train(table, plain).best[0].valid_metric);
    EXPECT_TRUE(verify(found.model).holds());
  }
}

TEST(InteractionSearch, FindsTheSameNoisyPairForEverySeed) {
  constexpr double kNoise = 1.3;
  Table table = board(3000, 6, Task::regression);
  Random random(9);
  for (float& y : table.columns.back().numbers) y += static_cast<float>(kNoise * random.normal());
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    TrainOptions options = board_options();
    options.seed = seed;
    EXPECT_THAT(train(table, options).options.interactions, ElementsAre(StartsWith("lon*lat:")))
        << seed;
  }
}

// Only a repeated row says anything of its twin. lon and lat name the row.
TEST(InteractionSearch, RepeatedRowsAreNoInteraction) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Table table = board(4000, 0, Task::regression, seed);
    for (Column& column : table.columns) {
      const std::size_t copied = 1500;
      for (std::size_t r = 0; r < copied; ++r) {
        if (!column.numbers.empty()) column.numbers[4000 - copied + r] = column.numbers[r];
        if (!column.codes.empty()) column.codes[4000 - copied + r] = column.codes[r];
      }
    }
    TrainOptions options = board_options();
    options.seed = seed;
    EXPECT_THAT(train(table, options).options.interactions, ElementsAre("none")) << seed;
  }
}

// More columns than are searched: those of the pair explain something alone.
TEST(InteractionSearch, SearchesManyColumns) {
  Table table = board(3000, 4, Task::regression);
  Random random(5);
  for (std::size_t r = 0; r < table.num_rows; ++r)
    table.columns[4].numbers[r] += table.columns[1].numbers[r] + table.columns[2].numbers[r];
  for (int c = 0; c < 60; ++c) {
    Column column{.name = fmt::format("noise{}", c)};
    for (std::size_t r = 0; r < table.num_rows; ++r)
      column.numbers.push_back(static_cast<float>(random.uniform()));
    table.columns.insert(table.columns.begin() + c % 3, std::move(column));
  }
  TrainOptions options = board_options();
  options.epochs = 2;
  EXPECT_THAT(train(table, options).options.interactions, ElementsAre(StartsWith("lon*lat:")));
  options.interactions = {"noise7*noise30", "lon*lat", "noise59*town"};
  EXPECT_THAT(train(table, options).options.interactions,
              ElementsAre(StartsWith("noise7*noise30:"), StartsWith("lon*lat:"),
                          StartsWith("noise59*town:")));
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

TEST(InteractionSearch, WithoutPairsTheModelIsThatOfNone) {
  const Table table = board(2000, 0, Task::regression);
  TrainOptions none = board_options();
  none.interactions = {"none"};
  EXPECT_EQ(bytes_without_choices(train(table, board_options()).model),
            bytes_without_choices(train(table, none).model));
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

TEST(InteractionSearch, SameBytesForAnyNumberOfRanks) {
  const Table table = board(2000, 6, Task::classification);
  TrainOptions options = board_options();
  options.epochs = 2;
  options.threads = 1;
  for (const std::size_t many_rows : {kManyRows, std::size_t{64}}) {
    const Source source{.table = table, .many_rows = many_rows};
    const TrainResult alone = train_on(source, options, {});
    EXPECT_THAT(alone.options.interactions, ElementsAre(StartsWith("lon*lat:")));
    on_ranks(3, [&](Ranks& ranks) {
      const TrainResult result = train_on(source, options, {.ranks = &ranks});
      EXPECT_TRUE(result.model.to_bytes() == alone.model.to_bytes()) << many_rows;
    });
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
        EXPECT_TRUE(bytes_without_choices(train(table, recorded).model) ==
                    bytes_without_choices(first.model))
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
