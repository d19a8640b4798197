// SPDX-License-Identifier: Apache-2.0
// The length of training and the penalties, where the validation rows decide them.
#include "train/trials.h"

#include <fmt/format.h>
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
          .trees = 0,
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
    for (const int ensemble : effort(std::vector{1, 3}, {1})) {
      const Table table = waves(700, 1, task);
      TrainOptions options = slow_options();
      options.ensemble = ensemble;
      const TrainResult found = train(table, options);
      const TrainOptions recorded = recorded_in(found);
      EXPECT_GT(recorded.epochs, 28) << "2000 steps of 8 rows";
      ASSERT_EQ(found.choices.size(), 3u);
      EXPECT_EQ(found.choices[0].value, std::to_string(recorded.epochs));
      EXPECT_EQ(found.choices[1].value, fmt::format("{}", recorded.calibrator_hessian));
      EXPECT_EQ(found.choices[2].value, fmt::format("{}", recorded.weight_decay));
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

bool same_settings(const TrainOptions& a, const TrainOptions& b) {
  return to_json(a) == to_json(b);
}

// Whatever the trainings say: an end comes, closed settings stay, the best is what was better last,
// and a run that knows no more than how they went is where the other one is.
TEST(Trials, EndAndCanBeTakenUpAgain) {
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const TrainOptions first = {.epochs = 1 + static_cast<int>(random.below(40)),
                                .weight_decay = random.below(2) == 0 ? 0 : 0.3,
                                .calibrator_hessian = random.below(2) == 0 ? 0 : 0.005};
    OpenSettings open = {.epochs = true,
                         .calibrator_hessian = random.below(2) == 0,
                         .weight_decay = random.below(2) == 0};
    if (random.below(2) == 0) open.larger = {"large", "larger"};
    const std::size_t rows = std::size_t{100} << random.below(16);
    const double luck = random.uniform();
    Trials trials(first, open, rows);
    int tried = 0;
    while (!trials.done()) {
      const TrainOptions before = trials.best(), trying = trials.trying();
      EXPECT_EQ(tried == 0, same_settings(before, trying));
      EXPECT_TRUE(open.weight_decay || trying.weight_decay == first.weight_decay);
      EXPECT_TRUE(open.calibrator_hessian || trying.calibrator_hessian == first.calibrator_hessian);
      EXPECT_TRUE(tried == 0 || static_cast<double>(rows) * trying.epochs <= 8e6);
      const bool is_better =
          trials.judge({.mean = random.uniform() < luck ? 3.0 : 0.1, .error = 1});
      EXPECT_TRUE(same_settings(trials.best(), is_better ? trying : before));
      ASSERT_LE(++tried, 1 + 6 + 3 + 3 + 1);
      Trials again(first, open, rows);
      for (const Fall& fall : trials.falls()) again.judge(fall);
      EXPECT_EQ(again.done(), trials.done());
      EXPECT_TRUE(same_settings(again.best(), trials.best()));
      EXPECT_TRUE(trials.done() || same_settings(again.trying(), trials.trying()));
    }
  }
}

TEST(Trials, SayWhatTheyChoseAndWhy) {
  Trials trials(
      {.architecture = "small", .epochs = 10, .weight_decay = 0.3, .calibrator_hessian = 0.005},
      {.epochs = true,
       .calibrator_hessian = true,
       .weight_decay = true,
       .larger = {"large", "larger"}},
      100);
  for (const double mean : {0.0, 2.0, 0.1, 1.0, 0.1, 3.0, 0.1, -1.0})
    trials.judge({.mean = mean, .error = 1});
  ASSERT_TRUE(trials.done());
  std::string said;
  for (const Choice& choice : trials.choices())
    said += fmt::format("{} {}: {}\n", choice.setting, choice.value, choice.why);
  EXPECT_EQ(
      said,
      "epochs 20: the loss of the validation rows is 2.0 deviations lower than with 10, with "
      "40 not\n"
      "architecture large: the loss of the validation rows is 1.0 deviations lower than with "
      "small, with larger not\n"
      "calibrator_hessian 0.0005: the loss of the validation rows is 3.0 deviations lower than "
      "with 0.005, with 5e-05 not\n"
      "weight_decay 0.3: with 0 the loss of the validation rows is not clearly lower\n");
}

TEST(HeldOut, AFallIsTheMeanOfDifferencesWithItsDeviation) {
  const Fall fall = fall_of({1, 2, 3, 4}, {0, 2, 2, 4});
  EXPECT_DOUBLE_EQ(fall.mean, 0.5);
  EXPECT_DOUBLE_EQ(fall.error, 0.25);
  EXPECT_TRUE(fall.is_clear(1.9));
  EXPECT_FALSE(fall.is_clear(2));
  EXPECT_FALSE(fall_of({1, 1}, {1, 1}).is_clear(0)) << "nothing has changed";
  EXPECT_FALSE(fall_of({1}, {0}).is_clear(0)) << "one row says nothing";
}

}  // namespace
}  // namespace espalier
