// SPDX-License-Identifier: Apache-2.0
// Training that keeps weight averages and stops by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/random.h"
#include "espalier/certificate.h"
#include "espalier/json.h"
#include "espalier/table.h"
#include "espalier/train.h"
#include "support/effort.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace espalier {
namespace {

// y is a wave of x and rises with `up`; without a signal it is noise.
Table waves(std::size_t rows, double signal, Task task = Task::regression, std::uint64_t seed = 5) {
  Random random(seed);
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

TrainOptions open_options() {
  return {.label = "y",
          .increasing = {"up"},
          .interactions = {"none"},
          .architecture = "dln(3x2)",
          .ensemble = 1,
          .trees = 0,
          .batch_size = 16,
          .threads = 2};
}

TrainOptions recorded_in(const TrainResult& result) {
  TrainOptions options;
  apply_json(options, Json::parse(result.model.training_json()).at("options").dump(), "model");
  return options;
}

std::string bytes_of(const TrainResult& result) { return result.model.to_bytes(); }

TEST(Averaged, StopsByItselfAndTheRecordedOptionsGiveTheSameBytes) {
  for (const Task task : {Task::regression, Task::classification}) {
    for (const int ensemble : effort(std::vector{1, 3}, {1})) {
      const Table table = waves(500, 1, task);
      TrainOptions options = open_options();
      options.ensemble = ensemble;
      const TrainResult found = train(table, options);
      EXPECT_EQ(found.options.schedule, Schedule::averaged);
      EXPECT_LT(found.history.back().epoch, found.options.epochs);
      EXPECT_TRUE(verify(found.model).holds());
      const TrainResult again = train(table, recorded_in(found));
      EXPECT_TRUE(bytes_of(again) == bytes_of(found));
      EXPECT_EQ(again.history.size(), found.history.size());
    }
  }
}

TEST(Averaged, KeepsTheParametersWithTheBestMetric) {
  const Table table = waves(400, 1), valid = waves(200, 1, Task::regression, 6);
  const TrainResult result = train(table, open_options(), {.valid = &valid});
  double best = result.history.front().valid_metric;
  for (const Epoch& epoch : result.history) best = std::min(best, epoch.valid_metric);
  EXPECT_EQ(result.best.front().valid_metric, best);
  EXPECT_NEAR(result.valid_metrics.front().value, best, 1e-5 * best);
}

TEST(Averaged, StopsSoonWhereThereIsNothingToLearn) {
  const TrainResult noise = train(waves(500, 0), open_options());
  const TrainResult signal = train(waves(500, 1), open_options());
  EXPECT_LT(noise.history.back().epoch, signal.history.back().epoch);
}

TEST(Averaged, IsNotChosenWhereTheLengthIsGivenOrNobodyCanEvaluateIt) {
  const std::function<void(TrainOptions&)> changes[] = {
      [](TrainOptions& o) { o.epochs = 5; },
      [](TrainOptions& o) { o.valid_fraction = 0; },
      [](TrainOptions& o) { o.patience = 3; },
      [](TrainOptions& o) { o.schedule = Schedule::constant; },
      [](TrainOptions& o) { o.architecture = "cal(5) lin(1)"; },
      [](TrainOptions& o) { o.architecture = "dln-paper(2x2)"; }};
  for (const auto& change : changes) {
    TrainOptions options = open_options();
    change(options);
    EXPECT_NE(train(waves(300, 1), options).options.schedule, Schedule::averaged);
  }
}

TEST(Averaged, CanBeAskedForWithALimitOrWithoutValidationRows) {
  TrainOptions options = open_options();
  options.schedule = Schedule::averaged;
  options.epochs = 3;
  const TrainResult short_one = train(waves(300, 1), options);
  ASSERT_EQ(short_one.history.size(), 1u);
  EXPECT_EQ(short_one.history.front().epoch, 3);
  options.valid_fraction = 0;
  options.batch_size = 300;  // one step an epoch
  const TrainResult all_rows = train(waves(300, 1), options);
  ASSERT_EQ(all_rows.best.size(), 1u);
  EXPECT_EQ(all_rows.best.front().epoch, 3);
  EXPECT_TRUE(verify(all_rows.model).holds());
}

TEST(Averaged, PatienceEndsTrainingAfterAnEvaluation) {
  TrainOptions options = open_options();
  options.schedule = Schedule::averaged;
  for (const int patience : {1, 3, 10, 100}) {
    options.patience = patience;
    for (const int epochs : {2, 60}) {
      options.epochs = epochs;
      options.valid_fraction = 0.2;
      const TrainResult result = train(waves(300, 1), options);
      const int best = result.best.front().epoch, last = result.history.back().epoch;
      EXPECT_GE(best, 1);
      EXPECT_LE(last - best, patience);
      options.valid_fraction = 0;
      EXPECT_EQ(train(waves(300, 1), options).best.front().epoch, epochs);
    }
  }
}

TEST(Averaged, SameBytesForAnyNumberOfThreadsAndWithACheckpointOfEveryStep) {
  TrainOptions options = open_options();
  const Table table = waves(400, 1);
  const std::string bytes = bytes_of(train(table, options));
  for (const int threads : {1, 3}) {
    options.threads = threads;
    EXPECT_TRUE(bytes_of(train(table, options)) == bytes);
  }
  const TemporaryFolder folder;
  options.epochs = train(table, options).options.epochs;
  options.schedule = Schedule::averaged;
  EXPECT_TRUE(bytes_of(train(table, options,
                             {.checkpoint = folder.path().string(), .checkpoint_seconds = 0})) ==
              bytes);
}

TEST(Averaged, AMetricThatIsNotDefinedIsAWarningAndTheLastEpochIsKept) {
  Table valid = waves(100, 1, Task::classification, 6);
  for (float& y : valid.columns[2].numbers) y = 1;
  TrainOptions options = open_options();
  options.metric = Metric::auc;
  options.schedule = Schedule::averaged;
  options.epochs = 30;
  std::vector<std::string> warnings;
  const TrainResult result =
      train(waves(400, 1, Task::classification), options,
            {.valid = &valid, .warning = [&](const std::string& w) { warnings.push_back(w); }});
  EXPECT_THAT(warnings, ::testing::Contains(::testing::HasSubstr("auc is not defined on the 100")));
  EXPECT_EQ(result.best.front().epoch, options.epochs);
}

// Stopped before the first evaluation, while the first network is trained, and in the second.
TEST(Averaged, AStoppedRunThatIsResumedGivesTheSameBytes) {
  const Table table = waves(400, 1);
  TrainOptions options = open_options();
  options.ensemble = 2;
  const TrainResult whole = train(table, options);
  int telling = 0;
  train(table, options, {.progress = [&](const Progress&) { ++telling; }});
  for (const double share : effort(std::vector{0.005, 0.02, 0.1, 0.45, 0.6, 0.95}, {0.02, 0.6})) {
    const TemporaryFolder folder;
    std::stop_source stop;
    int told = 0;
    const TrainControl control{.progress =
                                   [&](const Progress&) {
                                     if (++told > share * telling) stop.request_stop();
                                   },
                               .stop = stop.get_token(),
                               .checkpoint = folder.path().string(),
                               .checkpoint_seconds = 1000};
    const std::string error =
        error_of([&] { EXPECT_TRUE(train(table, options, control).stopped); });
    EXPECT_TRUE(error == "no error" || error.find("no model") != error.npos) << error;
    std::int64_t before = 0;
    const TrainControl resumed{.progress =
                                   [&](const Progress& now) {
                                     EXPECT_GE(now.rows_done, before);
                                     EXPECT_GE(now.rows_total, now.rows_done);
                                     before = now.rows_done;
                                   },
                               .checkpoint = folder.path().string(),
                               .resume = true};
    EXPECT_TRUE(bytes_of(train(table, options, resumed)) == bytes_of(whole)) << share;
  }
}

TEST(Averaged, AStopBeforeTheFirstEvaluationKeepsTheAveragesSoFar) {
  std::stop_source stop;
  const auto progress = [&](const Progress& now) {
    if (now.rows_done > 2 * 320) stop.request_stop();
  };
  const TrainResult result =
      train(waves(400, 1), open_options(), {.progress = progress, .stop = stop.get_token()});
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.best.front().epoch, 2);
  EXPECT_TRUE(verify(result.model).holds());
}

}  // namespace
}  // namespace espalier
