// SPDX-License-Identifier: Apache-2.0
// The length of training, where the validation rows decide it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/effort.h"
#include "core/error_of.h"
#include "core/random.h"
#include "core/temporary_folder.h"
#include "espalier/json.h"
#include "espalier/table.h"
#include "espalier/train.h"
#include "train/held_out.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

// y is a wave of x and rises with `up`; without a signal it is noise.
Table waves(std::size_t rows, double signal, Task task = Task::regression) {
  Random random(5);
  Table table{.name = "waves", .num_rows = rows};
  table.columns = {{.name = "up"}, {.name = "x"}, {.name = "y"}};
  for (std::size_t r = 0; r < rows; ++r) {
    const double up = random.uniform(), x = random.uniform();
    double y = signal * (up + std::sin(12 * x) * (0.5 + up)) + 0.1 * random.normal();
    if (task == Task::classification) y = y > 0.4 ? 1 : 0;
    table.columns[0].numbers.push_back(static_cast<float>(up));
    table.columns[1].numbers.push_back(static_cast<float>(x));
    table.columns[2].numbers.push_back(static_cast<float>(y));
  }
  return table;
}

// Slow steps, so that longer trainings pay.
TrainOptions slow_options() {
  return {.label = "y",
          .increasing = {"up"},
          .interactions = {"none"},
          .architecture = "dln(3x2)",
          .ensemble = 1,
          .batch_size = 8,
          .learning_rate = 0.002,
          .threads = 2};
}

TrainOptions recorded_in(const TrainResult& result) {
  TrainOptions options;
  apply_json(options, Json::parse(result.model.training_json()).at("options").dump(), "model");
  return options;
}

TEST(Length, IsLongerWhereThatPaysAndTheChosenOneGivesTheSameBytes) {
  for (const Task task : {Task::regression, Task::classification}) {
    for (const int ensemble : effort(std::vector{1, 3}, {task == Task::regression ? 1 : 2})) {
      const Table table = waves(700, 1, task);
      TrainOptions options = slow_options();
      options.ensemble = ensemble;
      const TrainResult found = train(table, options);
      const TrainOptions recorded = recorded_in(found);
      EXPECT_GT(recorded.epochs, 28) << "2000 steps of 8 rows";
      ASSERT_EQ(found.choices.size(), 1u);
      EXPECT_EQ(found.choices[0].value, std::to_string(recorded.epochs));
      const TrainResult again = train(table, recorded);
      EXPECT_TRUE(again.model.to_bytes() == found.model.to_bytes());
      EXPECT_TRUE(again.choices.empty());
      EXPECT_EQ(again.history.size(), found.history.size());
      EXPECT_EQ(static_cast<int>(found.history.size()), recorded.epochs * ensemble);
    }
  }
}

TEST(Length, StaysWhereNothingIsToBeLearned) {
  const TrainResult found = train(waves(700, 0), slow_options());
  TrainOptions options = slow_options();
  options.epochs = found.options.epochs;
  EXPECT_LT(found.options.epochs, 100);
  EXPECT_TRUE(train(waves(700, 0), options).model.to_bytes() == found.model.to_bytes());
}

TEST(Length, IsNotAskedForWhereItIsGivenOrNobodyCanJudgeIt) {
  const std::function<void(TrainOptions&)> changes[] = {
      [](TrainOptions& o) { o.epochs = 5; },
      [](TrainOptions& o) { o.valid_fraction = 0; },
      [](TrainOptions& o) { o.patience = 3; },
      [](TrainOptions& o) { o.schedule = Schedule::constant; },
      [](TrainOptions& o) { o.architecture = "cal(5) lin(1)"; },
      [](TrainOptions& o) { o.architecture = "dln-paper(2x2)"; }};
  for (const auto& change : changes) {
    TrainOptions options = slow_options();
    change(options);
    EXPECT_TRUE(train(waves(400, 1), options).choices.empty());
  }
}

TEST(Length, SameBytesForAnyNumberOfThreads) {
  TrainOptions options = slow_options();
  const std::string bytes = train(waves(600, 1), options).model.to_bytes();
  for (const int threads : {1, 3}) {
    options.threads = threads;
    EXPECT_TRUE(train(waves(600, 1), options).model.to_bytes() == bytes);
  }
}

// Stopped in the first training, in longer ones and in the second network.
TEST(Length, AStoppedRunThatIsResumedGivesTheSameBytes) {
  const Table table = waves(600, 1);
  TrainOptions options = slow_options();
  options.ensemble = 2;
  const TrainResult whole = train(table, options);
  int telling = 0;
  const auto count = [&](const Progress&) { ++telling; };
  train(table, options, {.progress = count});
  for (const double share : effort(std::vector{0.02, 0.1, 0.3, 0.6, 0.95}, {0.02, 0.6})) {
    const TemporaryFolder folder;
    std::stop_source stop;
    int told = 0;
    const TrainControl control{.progress =
                                   [&](const Progress&) {
                                     if (++told > share * telling) stop.request_stop();
                                   },
                               .stop = stop.get_token(),
                               .checkpoint = folder.path(),
                               .checkpoint_seconds = 1000};
    const std::string error = error_of([&] {
      const TrainResult part = train(table, options, control);
      EXPECT_TRUE(part.stopped);
      EXPECT_LE(part.options.epochs, whole.options.epochs);
    });
    EXPECT_TRUE(error == "no error" || error.find("no model") != error.npos) << error;
    std::int64_t before = 0;
    const TrainControl resumed{.progress =
                                   [&](const Progress& now) {
                                     EXPECT_GE(now.rows_done, before);
                                     before = now.rows_done;
                                   },
                               .checkpoint = folder.path(),
                               .resume = true};
    EXPECT_TRUE(train(table, options, resumed).model.to_bytes() == whole.model.to_bytes()) << share;
  }
}

// The longer training is the one that is not chosen.
TEST(Length, AResumedRunRemembersTheShorterTraining) {
  const Table table = waves(700, 0);
  const TrainResult whole = train(table, slow_options());
  const TemporaryFolder folder;
  std::stop_source stop;
  const TrainControl control{.progress =
                                 [&](const Progress& now) {
                                   if (now.options->epochs > whole.options.epochs)
                                     stop.request_stop();
                                 },
                             .stop = stop.get_token(),
                             .checkpoint = folder.path(),
                             .checkpoint_seconds = 1000};
  EXPECT_TRUE(train(table, slow_options(), control).stopped);
  const TrainControl resumed{.checkpoint = folder.path(), .resume = true};
  const TrainResult again = train(table, slow_options(), resumed);
  EXPECT_EQ(again.options.epochs, whole.options.epochs);
  EXPECT_TRUE(again.model.to_bytes() == whole.model.to_bytes());
}

TEST(Length, AStopDuringALongerTrainingKeepsTheShorterOne) {
  const Table table = waves(600, 1);
  std::stop_source stop;
  int first = 0;
  const TrainControl control{.progress =
                                 [&](const Progress& now) {
                                   if (first == 0) first = now.options->epochs;
                                   if (now.options->epochs > first) stop.request_stop();
                                 },
                             .stop = stop.get_token()};
  const TrainResult stopped = train(table, slow_options(), control);
  TrainOptions shorter = slow_options();
  shorter.epochs = first;
  EXPECT_TRUE(stopped.stopped);
  EXPECT_TRUE(stopped.model.to_bytes() == train(table, shorter).model.to_bytes());
}

TEST(HeldOut, AFallIsTheMeanOfDifferencesWithItsDeviation) {
  const Fall fall = fall_of({1, 2, 3, 4}, {0, 2, 2, 4});
  EXPECT_DOUBLE_EQ(fall.mean, 0.5);
  EXPECT_DOUBLE_EQ(fall.error, 0.25);
  EXPECT_TRUE(fall.is_clear(1.9));
  EXPECT_FALSE(fall.is_clear(2));
  EXPECT_FALSE(fall_of({1, 1}, {1, 1}).is_clear(0)) << "nothing has changed";
}

}  // namespace
}  // namespace espalier
