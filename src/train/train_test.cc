// SPDX-License-Identifier: Apache-2.0
#include "espalier/train.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <filesystem>

#include "core/random.h"
#include "espalier/certificate.h"
#include "espalier/csv.h"
#include "espalier/inspect.h"
#include "espalier/simulate.h"
#include "model/model_data.h"
#include "model/model_file.h"
#include "support/effort.h"
#include "support/error_of.h"
#include "support/metric_of.h"
#include "train/presets.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

Table loans(std::int64_t rows, std::uint64_t seed = 1) {
  return simulate({.rows = rows, .seed = seed});
}

TrainOptions loan_options() {
  return {.label = "default",
          .increasing = {"debt_ratio", "late_payments"},
          .decreasing = {"income", "years_employed"},
          .epochs = 3,
          .threads = 1};
}

std::string file_bytes(const Model& model) { return format_model(model.data()); }

// y = 3 a - 2 b + noise, a sinus of c on top.
Table regression_table(int rows) {
  Random random(3);
  Table table{.name = "made up"};
  table.columns = {{.name = "a"}, {.name = "b"}, {.name = "c"}, {.name = "y"}};
  table.num_rows = static_cast<std::size_t>(rows);
  for (int i = 0; i < rows; ++i) {
    const double a = random.uniform(), b = random.uniform(), c = 6 * random.uniform();
    table.columns[0].numbers.push_back(static_cast<float>(a));
    table.columns[1].numbers.push_back(static_cast<float>(b));
    table.columns[2].numbers.push_back(static_cast<float>(c));
    table.columns[3].numbers.push_back(
        static_cast<float>(1000 + 100 * (3 * a - 2 * b + std::sin(c) + 0.1 * random.normal())));
  }
  return table;
}

TEST(Train, LearnsLoansAndProvesTheirDirections) {
  const Table table = loans(4000);
  TrainOptions options = loan_options();
  if (effort(false, true)) options.epochs = 8;
  const TrainResult result = train(table, options);
  EXPECT_TRUE(verify(result.model).holds());
  EXPECT_GT(verify(result.model).inequalities, 100u);
  const Evaluation test = evaluate(result.model, loans(4000, 2));
  // 22 % default; the truth itself reaches an auc of about 0.82.
  EXPECT_GT(metric_of(test, Metric::auc), 0.77);
  EXPECT_LT(metric_of(test, Metric::log_loss), 0.45);
}

TEST(Train, LearnsARegressionInUnitsOfTheLabel) {
  if (effort(false, true)) GTEST_SKIP() << "sanitizers do not evaluate quality";
  const Table table = regression_table(2000);
  const TrainResult result = train(
      table, {.label = "y", .increasing = {"a"}, .decreasing = {"b"}, .epochs = 40, .threads = 1});
  EXPECT_EQ(result.model.schema().label.task(), Task::regression);
  EXPECT_GT(metric_of(evaluate(result.model, table), Metric::r2), 0.97);
  // The training loss is in the same units as the metric.
  EXPECT_NEAR(
      result.history.back().train_loss / metric_of(evaluate(result.model, table), Metric::mse), 1,
      0.5);
}

TEST(Train, EveryPresetTrainsAndVerifies) {
  const Table table = loans(600);
  for (const std::string& preset : preset_names()) {
    TrainOptions options = loan_options();
    options.architecture = preset;
    options.epochs = 1;
    const TrainResult result = train(table, options);
    const Certificate certificate = verify(result.model, {.pairs = 20000});
    EXPECT_TRUE(certificate.holds()) << preset;
    EXPECT_GT(certificate.inequalities, 0u) << preset;
    for (const float p : result.model.predict(table)) ASSERT_TRUE(p >= 0 && p <= 1) << preset;
  }
}

TEST(Train, TheNineLayersOfThePapersFigureLearn) {
  TrainOptions options = loan_options();
  options.architecture =
      "cal(20) lin(24) cal(10) lat(8x3) cal(10) lat(4x2) cal(10) lat(1x4) cal(10)";
  options.epochs = 12;
  const TrainResult result = train(loans(3000), options);
  EXPECT_LT(result.history.back().train_loss, 0.98 * result.history.front().train_loss);
  EXPECT_TRUE(verify(result.model).holds());
}

TEST(Train, RaisingAMonotoneColumnNeverHelpsAgainstIt) {
  const Table table = loans(1500);
  const Model model = train(table, loan_options()).model;
  Table raised = table;
  for (Column& column : raised.columns) {
    if (column.name != "debt_ratio") continue;
    for (float& x : column.numbers) x += 0.3f;
  }
  const std::vector<float> before = model.predict(table, Output::score),
                           after = model.predict(raised, Output::score);
  for (std::size_t i = 0; i < before.size(); ++i) ASSERT_GE(after[i], before[i]);
}

TEST(Train, SameSeedSameBytesForAnyNumberOfThreads) {
  const Table table = loans(1500);
  TrainOptions options = loan_options();
  const std::string bytes = file_bytes(train(table, options).model);
  EXPECT_EQ(file_bytes(train(table, options).model), bytes);
  for (const int threads : {2, 3, 7}) {
    options.threads = threads;
    EXPECT_EQ(file_bytes(train(table, options).model), bytes) << threads << " threads";
  }
  options.seed = 2;
  EXPECT_NE(file_bytes(train(table, options).model), bytes);
}

TEST(Train, ATableHandedOverGivesTheSameBytesAsOneThatIsKept) {
  const Table table = loans(1000), valid = loans(300, 2);
  TrainOptions options = loan_options();
  options.weight = "loan_amount";
  for (const Table* other : {static_cast<const Table*>(nullptr), &valid}) {
    Table spent = table;
    EXPECT_EQ(file_bytes(train(std::move(spent), options, {.valid = other}).model),
              file_bytes(train(table, options, {.valid = other}).model));
    EXPECT_TRUE(spent.columns.empty());
  }
}

TEST(Train, SameBytesForEveryInstructionSet) {
  const Table table = loans(600);
  const std::int64_t supported = hwy::SupportedTargets();
  for (const std::string& preset : effort(preset_names(), {"dln", "min-max"})) {
    TrainOptions options = loan_options();
    options.epochs = 2;
    options.architecture = preset;
    hwy::GetChosenTarget().Update(HWY_SCALAR);
    const std::string bytes = file_bytes(train(table, options).model);
    for (const std::int64_t target : {std::int64_t{HWY_AVX2}, std::int64_t{HWY_AVX3}}) {
      if ((supported & target) == 0) continue;
      hwy::GetChosenTarget().Update(target);
      EXPECT_EQ(file_bytes(train(table, options).model), bytes)
          << preset << ", " << hwy::TargetName(target);
    }
  }
  hwy::GetChosenTarget().Update(supported);
}

TEST(Train, AnEnsembleIsOneModelThatAverages) {
  const Table table = loans(800);
  TrainOptions options = loan_options();
  options.ensemble = 3;
  options.trees = 0;
  const TrainResult result = train(table, options);
  EXPECT_EQ(result.model.num_members(), 3);
  EXPECT_EQ(result.best.size(), 3u);
  EXPECT_TRUE(verify(result.model).holds());
  const std::string path = testing::TempDir() + "ensemble.esp";
  result.model.save(path);
  EXPECT_EQ(Model::load(path).predict(table), result.model.predict(table));
  std::filesystem::remove(path);
}

TEST(Train, MissingCellsAndUnseenCategoriesPredict) {
  const Model model = train(loans(800), loan_options()).model;
  Table table = loans(5);
  for (Column& column : table.columns) {
    if (column.type == ColumnType::number) {
      for (float& x : column.numbers) x = std::nanf("");
    } else {
      column.categories = {"never seen"};
      for (std::int32_t& code : column.codes) code = code == kMissingCode ? kMissingCode : 0;
    }
  }
  for (const float p : model.predict(table)) EXPECT_TRUE(p > 0 && p < 1);
}

TEST(Train, WeightsCountAsMoreRows) {
  // Rows of weight 0 might as well not be there.
  Table table = regression_table(600);
  Column weight{.name = "w"};
  for (std::size_t i = 0; i < table.num_rows; ++i) {
    weight.numbers.push_back(i % 2 == 0 ? 1.0f : 0.0f);
    if (i % 2 == 1) table.columns[3].numbers[i] = -1e6f;
  }
  table.columns.push_back(weight);
  const TrainResult result =
      train(table, {.label = "y", .weight = "w", .epochs = 20, .threads = 1});
  for (const float y : result.model.predict(table)) ASSERT_NEAR(y, 1000, 1000);
}

TEST(Train, BalancedClassesRaiseTheProbabilityOfTheRareOne) {
  const Table table = loans(1500);
  TrainOptions options = loan_options();
  const auto mean = [](const std::vector<float>& p) {
    double sum = 0;
    for (const float x : p) sum += x;
    return sum / static_cast<double>(p.size());
  };
  const double plain = mean(train(table, options).model.predict(table));
  options.class_weight = ClassWeight::balanced;
  const double balanced = mean(train(table, options).model.predict(table));
  EXPECT_LT(plain, 0.35);
  EXPECT_GT(balanced, plain + 0.1);
}

TEST(Train, TheBestEpochByTheChosenMetricIsKept) {
  TrainOptions options = loan_options();
  options.epochs = 8;
  options.ensemble = 1;
  options.metric = Metric::auc;
  const TrainResult result = train(loans(1500), options);
  double best = 0;
  for (const Epoch& epoch : result.history) best = std::max(best, epoch.valid_metric);
  EXPECT_EQ(result.best[0].valid_metric, best);
  for (const MetricValue& value : result.valid_metrics) {
    if (value.metric == Metric::auc) {
      EXPECT_NEAR(value.value, best, 1e-9);
    }
  }
}

TEST(Train, PatienceEndsTrainingEarly) {
  TrainOptions options = loan_options();
  options.epochs = 200;
  options.patience = 2;
  options.ensemble = 1;
  options.learning_rate = 0.3;
  const TrainResult result = train(loans(500), options);
  EXPECT_LT(result.history.size(), 200u);
  EXPECT_EQ(static_cast<int>(result.history.size()), result.best[0].epoch + 2);
}

// However much was done, a network whose first epoch has not ended has learned nothing to be kept.
TEST(Train, AStopBeforeTheFirstEpochHasEndedLeavesNoModel) {
  for (const char* architecture : {"dln(4x2)", "crystals(6x2)"}) {
    TrainOptions options = loan_options();
    options.architecture = architecture;
    options.batch_size = 1;
    for (const int last : {0, 1, 3}) {
      std::stop_source stop;
      if (last == 0) stop.request_stop();
      int reports = 0;
      const auto progress = [&](const Progress&) {
        if (++reports == last) stop.request_stop();
      };
      const TrainControl control = {.progress = progress, .stop = stop.get_token()};
      EXPECT_THAT(error_of([&] { train(loans(200), options, control); }),
                  HasSubstr("stopped before the first epoch had ended"));
    }
  }
}

TEST(Train, AStoppedNetworkOfAnEnsembleWithoutAnEpochIsLeftOut) {
  TrainOptions options = loan_options();
  options.ensemble = 3;
  options.batch_size = 1;
  std::stop_source stop;
  const auto progress = [&](const Progress& now) {
    if (now.member == 2 && now.last.epoch == 0) stop.request_stop();
  };
  const TrainResult result =
      train(loans(200), options, {.progress = progress, .stop = stop.get_token()});
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.best.size(), 1u);
  EXPECT_EQ(result.model.num_members(), 1);
}

TEST(Train, AStopKeepsTheBestModelSoFar) {
  std::stop_source stop;
  TrainOptions options = loan_options();
  options.epochs = 1000;
  const TrainResult result = train(loans(800), options,
                                   {.progress =
                                        [&](const Progress& progress) {
                                          if (progress.last.epoch >= 2) stop.request_stop();
                                        },
                                    .stop = stop.get_token()});
  EXPECT_TRUE(result.stopped);
  EXPECT_LE(result.history.size(), 3u);
  EXPECT_TRUE(verify(result.model).holds());
}

TEST(Train, AValidationTableReplacesTheSplit) {
  const Table table = loans(800), valid = loans(300, 5);
  const TrainResult result = train(table, loan_options(), {.valid = &valid});
  EXPECT_EQ(result.train_rows, 800u);
  EXPECT_EQ(result.valid_rows, 300u);
}

TEST(Train, WithoutValidationTheLastEpochIsKept) {
  TrainOptions options = loan_options();
  options.valid_fraction = 0;
  const TrainResult result = train(loans(500), options);
  EXPECT_EQ(result.best[0].epoch, options.epochs);
  EXPECT_EQ(result.valid_rows, 0u);
}

TEST(Train, RegularisersFlattenWhatTheyPenalise) {
  const Table table = loans(1500);
  TrainOptions options = loan_options();
  options.architecture = "cal(20) lat";
  options.increasing = options.decreasing = {};
  const auto roughness = [&](const TrainOptions& o) {
    const Model model = train(table, o).model;
    const Network& network = model.data().members[0].network();
    double sum = 0;
    for (int u = 0; u < network.layer(1).num_units(); ++u) {
      const float* theta = network.layer_params(1);
      for (std::size_t v = 0; v < network.layer(1).num_params(); v += 2)
        sum += std::pow(theta[v + 1] - theta[v], 2);
    }
    return sum;
  };
  const double plain = roughness(options);
  options.lattice_laplacian = 0.1;
  EXPECT_LT(roughness(options), 0.5 * plain);
}

TEST(Train, MissingWordsOfTheLabelGoWithTheModel) {
  const std::string text = "x,y\n1,2\n2,4\n3,6\n4,-999\n5,9\n6,12\n7,15\n";
  const CsvOptions csv = {.column_missing = {{"y", {"-999"}}}};
  const Model model =
      train(parse_csv(text, csv), {.label = "y", .epochs = 1, .valid_fraction = 0}).model;
  const Evaluation evaluation =
      evaluate(model, parse_csv(text, model.csv_options({}, Reading::labelled)));
  EXPECT_EQ(evaluation.rows, 6u);
  EXPECT_EQ(evaluation.rows_unlabelled, 1u);
}

TEST(Train, WordsThatAreNotUtf8AreRefusedBeforeTraining) {
  const Table table = parse_csv("c,y\ncaf\xe9,0\ntea,1\ntea,0\n", {}, "t.csv");
  EXPECT_THAT(error_of([&] { train(table, {.label = "y"}); }),
              HasSubstr("t.csv: column 'c': a word is not UTF-8"));
}

TEST(Train, RefusesOptionsThatMakeNoSense) {
  const Table table = loans(100);
  const auto error = [&](auto&& change) {
    TrainOptions options = loan_options();
    change(options);
    return error_of([&] { train(table, options); });
  };
  EXPECT_THAT(error([](TrainOptions& o) { o.learning_rate = -1; }), HasSubstr("learning_rate"));
  EXPECT_THAT(error([](TrainOptions& o) { o.learning_rate = std::nan(""); }),
              HasSubstr("learning_rate"));
  EXPECT_THAT(error([](TrainOptions& o) { o.metric = Metric::mse; }),
              HasSubstr("does not suit classification"));
  EXPECT_THAT(error([](TrainOptions& o) { o.architecture = "dlm"; }),
              HasSubstr("no layer or preset"));
  EXPECT_THAT(error([](TrainOptions& o) { o.architecture = "cal lat(70x5)"; }), HasSubstr("wires"));
}

TEST(Inspect, TellsArchitectureFeaturesAndCurves) {
  const Model model = train(loans(500), loan_options()).model;
  const std::string text = inspect_text(model);
  for (const char* part :
       {"classification of 'default', 'yes' against 'no'", "architecture  cal(", "never falls",
        "never rises", "calibrators of the inputs", "wiring of layer"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Train, BorrowedColumnsGiveTheSameBytesWhetherTheTableIsKeptOrNot) {
  const Table table = loans(500);
  const std::string wanted = file_bytes(train(table, loan_options()).model);
  Table borrowed = table;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    borrowed.columns[c].numbers.clear();
    borrowed.columns[c].borrowed = table.columns[c].numbers;
  }
  EXPECT_EQ(file_bytes(train(borrowed, loan_options()).model), wanted);
  EXPECT_EQ(file_bytes(train(std::move(borrowed), loan_options()).model), wanted);
}

TEST(Train, AnExceptionOfTheProgressCallbackEndsTraining) {
  int calls = 0;
  const auto progress = [&](const Progress&) {
    ++calls;
    throw std::runtime_error("enough");
  };
  EXPECT_THROW(train(loans(500), loan_options(), {.progress = progress}), std::runtime_error);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace espalier
