// SPDX-License-Identifier: Apache-2.0
#include "espalier/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/file.h"
#include "encode/encode.h"
#include "espalier/error.h"
#include "espalier/json.h"
#include "espalier/simulate.h"
#include "model/model_file.h"
#include "search/plan.h"
#include "search/tune_problem.h"
#include "support/effort.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/thread_ranks.h"
#include "train/presets.h"
#include "train/train_on.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;

const Table& loans() {
  static const Table table = simulate({.rows = 400});
  return table;
}

TrainOptions loan_options(int threads = 2) {
  return {.label = "default",
          .increasing = {"debt_ratio", "late_payments"},
          .decreasing = {"income", "years_employed"},
          .trees = 0,
          .epochs = 9,
          .threads = threads};
}

std::string bytes_of(const TrainResult& result) { return format_model(result.model.data()); }

// Without the seconds, which differ from run to run.
std::vector<std::string> texts_of(const std::vector<TuneTrial>& trials) {
  std::vector<std::string> texts;
  for (const TuneTrial& trial : trials) {
    const TuneRun& run = trial.run;
    std::ostringstream text;
    text << run.trial << " " << run.rung << " " << run.epochs << " " << run.settings << " "
         << std::hexfloat << run.valid_metric << " " << trial.confirmed;
    texts.push_back(text.str());
  }
  return texts;
}

std::string run_line(const std::string& trial, const std::string& settings) {
  return "{\"trial\":" + trial + ",\"rung\":3,\"epochs\":9,\"repeat\":0,\"settings\":" + settings +
         ",\"value\":0.4,\"seconds\":1}\n";
}

class Tune : public testing::Test {
 protected:
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    std::ifstream in(results_);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  void write(const std::string& text) const { std::ofstream(results_, std::ios::binary) << text; }

  TuneResult tune_to_file(int trials) const {
    return tune(loans(), loan_options(), {.trials = trials, .confirm = 2}, {.results = results_});
  }

  const TemporaryFolder folder_;
  const std::string results_ = (folder_ / "runs.jsonl").string();
  std::vector<std::string> written_;
};

TEST_F(Tune, OneTrialIsTheDefaultsAndTheModelThatOfTrain) {
  for (const char* architecture : {"dln", "dln-paper"}) {
    TrainOptions options = loan_options();
    options.architecture = architecture;
    const TuneResult result = tune(loans(), options, {.trials = 1});
    ASSERT_EQ(result.trials.size(), 1u);
    EXPECT_EQ(result.trials[0].run.settings, "{}");
    EXPECT_EQ(result.trials[0].run.epochs, 9);
    EXPECT_EQ(bytes_of(result.trained), bytes_of(train(loans(), options)));
  }
}

// The epochs of averaged training are a limit that no trial changes.
TEST_F(Tune, TheFirstTrialIsWhatTrainDoesWhereTheLengthIsLeftOpen) {
  TrainOptions options = loan_options();
  options.architecture = "dln(3x2)";
  options.epochs = {};
  options.ensemble = 1;
  const Table few = simulate({.rows = effort(150, 60)});
  const TrainResult one = train(few, options);
  const TuneResult result = tune(few, options, {.trials = 3, .confirm = 0});
  for (const TuneTrial& trial : result.trials) {
    EXPECT_EQ(trial.run.settings.find("epochs"), std::string::npos);
    if (trial.run.trial != 1) continue;
    EXPECT_EQ(trial.run.settings, "{}");
    EXPECT_EQ(trial.run.epochs, one.options.epochs);
    EXPECT_EQ(trial.run.valid_metric, one.best.front().valid_metric);
  }
  EXPECT_EQ(bytes_of(tune(few, options, {.trials = 1}).trained), bytes_of(one));
}

TEST_F(Tune, ASearchEndsInAnEnsembleWhereNobodySaysHowManyNetworks) {
  const Table many = simulate({.rows = 6500});  // of which 5,200 are trained on
  TrainOptions options = loan_options();
  options.architecture = "dln(2x2)";
  options.epochs = 1;
  EXPECT_EQ(train(many, options).best.size(), 1u);
  const TuneOptions two = {.trials = 2, .confirm = 0};
  EXPECT_EQ(tune(many, options, {.trials = 1}).trained.best.size(), 1u);
  EXPECT_EQ(tune(many, options, two).trained.best.size(), 5u);
  options.ensemble = 1;
  EXPECT_EQ(tune(many, options, two).trained.best.size(), 1u);
  options.ensemble = {};
  options.architecture = "cal(5) lin(1)";
  EXPECT_EQ(tune(many, options, two).trained.best.size(), 1u);
}

TEST_F(Tune, EveryPresetCanBeTuned) {
  const Table few = simulate({.rows = 120});
  for (const std::string& architecture : preset_names()) {
    TrainOptions options = loan_options();
    options.architecture = architecture;
    options.epochs = 2;
    const TuneResult result = tune(few, options, {.trials = 5, .confirm = 1});
    EXPECT_EQ(result.trials.size(), 5u) << architecture;
    EXPECT_EQ(bytes_of(train(few, result.trained.options)), bytes_of(result.trained))
        << architecture;
  }
}

TEST_F(Tune, AnErrorThatIsNoDivergenceEndsTheSearch) {
  const auto fail = [](const TuneProgress& progress) {
    if (!progress.runs.empty() && progress.finished == nullptr)
      throw Error(ErrorKind::file, "the disk is gone");
  };
  EXPECT_EQ(error_of([&] { tune(loans(), loan_options(1), {.trials = 3}, {.progress = fail}); }),
            "the disk is gone");
}

TEST_F(Tune, ATrialIsNotTrainedTwiceWithTheSameEpochs) {
  TrainOptions options = loan_options();
  options.epochs = 1;
  const auto search = [&] {
    return tune(loans(), options, {.trials = 7, .confirm = 0}, {.results = results_});
  };
  const TuneResult result = search();
  EXPECT_EQ(result.trials.size(), 7u);
  EXPECT_EQ(lines().size(), 1u + 7u);
  EXPECT_EQ(texts_of(search().trials), texts_of(result.trials));
  EXPECT_EQ(lines().size(), 1u + 7u);
}

// The first rank has the file; a second search finds all that it needs there.
TEST_F(Tune, RanksDivideTheTrialsAndTheResultIsTheSame) {
  TrainOptions options = loan_options(1);
  options.epochs = 3;
  options.ensemble = 1;
  const TuneOptions search = {.trials = 6, .confirm = 2};
  const TuneResult alone = tune(loans(), options, search);
  for (const int size : {3, 2}) {
    on_ranks(size, [&](Ranks& ranks) {
      const std::string own = ranks.rank() == 0 ? results_ : (folder_ / "none").string();
      const TuneResult result = tune(loans(), options, search, {.results = own, .ranks = &ranks});
      EXPECT_EQ(texts_of(result.trials), texts_of(alone.trials)) << size;
      EXPECT_EQ(bytes_of(result.trained) == bytes_of(alone.trained), true) << size;
    });
    EXPECT_FALSE(fs::exists(folder_ / "none"));
    if (size == 3) written_ = lines();
    EXPECT_EQ(lines(), written_);
  }
  EXPECT_GT(written_.size(), 1u + 6u);
}

TEST_F(Tune, OneRankIsAskedToStopAndAllTrainTheBestSoFar) {
  TrainOptions options = loan_options(1);
  options.epochs = 3;
  options.ensemble = 1;
  std::atomic<int> stopped = 0;
  on_ranks(2, [&](Ranks& ranks) {
    std::stop_source stop;
    const auto progress = [&](const TuneProgress& told) {
      if (ranks.rank() == 1 && told.runs.size() >= 2) stop.request_stop();
    };
    const TuneResult result =
        tune(loans(), loan_options(1), {.trials = 20},
             {.progress = progress, .stop = stop.get_token(), .results = {}, .ranks = &ranks});
    EXPECT_LT(result.trials.size(), 20u);
    stopped += result.stopped;
  });
  EXPECT_EQ(stopped, 2);
}

TEST_F(Tune, TheResultDoesNotDependOnTheThreads) {
  const TuneResult one = tune(loans(), loan_options(1), {.trials = 12, .confirm = 2});
  const TuneResult three = tune(loans(), loan_options(3), {.trials = 12, .confirm = 2});
  EXPECT_EQ(one.trials.size(), 12u);
  EXPECT_EQ(texts_of(one.trials), texts_of(three.trials));
  EXPECT_EQ(bytes_of(one.trained), bytes_of(three.trained));
}

TEST_F(Tune, UnconfirmedTheBestRunOfAnyRungWins) {
  const TuneResult result =
      tune(loans(), loan_options(), {.trials = 12, .confirm = 0}, {.results = results_});
  const TuneTrial& best = result.trials.front();
  const std::vector<std::string> all = lines();
  EXPECT_GT(all.size(), 1u + 12u);
  for (std::size_t i = 1; i < all.size(); ++i)
    EXPECT_GE(Json::parse(all[i])["value"].get<double>(), best.run.valid_metric) << all[i];
  EXPECT_TRUE(std::isnan(best.confirmed));
  EXPECT_EQ(result.trained.best.front().valid_metric, best.run.valid_metric);
  EXPECT_EQ(result.trained.options.epochs, best.run.epochs);
  EXPECT_EQ(bytes_of(train(loans(), result.trained.options)), bytes_of(result.trained));
}

TEST_F(Tune, TheMeanOfTheRepeatsDecidesAmongTheBestAndTheDefaults) {
  for (const int folds : {0, 3}) {
    fs::remove(results_);
    const TuneOptions twice = {.trials = 12, .confirm = 2, .folds = folds};
    const TuneResult result = tune(loans(), loan_options(), twice, {.results = results_});
    std::map<int, std::vector<double>> repeats, compared;  // by trial
    std::map<int, double> searched;
    for (const std::string& line : lines()) {
      const Json run = Json::parse(line);
      if (!run.contains("trial")) continue;
      const int trial = run["trial"].get<int>();
      const double value = run["value"].get<double>();
      EXPECT_EQ(run.contains("folds"), folds > 0);
      if (run["repeat"].get<int>() > 0) {
        repeats[trial].push_back(value);
        if (folds == 0) compared[trial].push_back(value);
        for (int fold = 0; fold < folds; ++fold)
          compared[trial].push_back(run["folds"][static_cast<std::size_t>(fold)].get<double>());
      } else {
        searched[trial] = std::min(value, searched.emplace(trial, value).first->second);
      }
    }
    ASSERT_GE(repeats.size(), 3u);
    EXPECT_LE(repeats.size(), 4u);
    EXPECT_TRUE(repeats.contains(1));
    EXPECT_EQ(repeats.begin()->first, 1);
    // 80 of 400 rows are held out, of the 320 that the search trained on; folds hold out all rows.
    const Luck luck = folds == 0 ? Luck{repeats.size() - 1, 80.0 / 240} : Luck{12 - 1, 1.0 / 2};
    const int winner = result.trials.front().run.trial;
    for (const auto& [trial, values] : repeats) {
      const bool is_better = clearly_lower(compared.at(1), compared.at(trial), luck);
      EXPECT_TRUE(trial != winner || trial == 1 || is_better);
      EXPECT_TRUE(winner != 1 || !is_better) << trial;
    }
    double before = 0;
    for (std::size_t i = 0; i < result.trials.size(); ++i) {
      const TuneTrial& trial = result.trials[i];
      EXPECT_EQ(std::isnan(trial.confirmed), i >= repeats.size());
      EXPECT_EQ(trial.run.valid_metric, searched[trial.run.trial]);
      if (i >= repeats.size()) continue;
      const std::vector<double>& values = repeats.at(trial.run.trial);
      ASSERT_EQ(values.size(), 2u);
      EXPECT_NE(values[0], values[1]);  // other seeds
      EXPECT_NE(values[0], trial.run.valid_metric);
      EXPECT_DOUBLE_EQ(trial.confirmed, (values[0] + values[1]) / 2);
      if (i == 0) continue;
      EXPECT_GE(trial.confirmed, before);
      before = trial.confirmed;
    }
    EXPECT_EQ(result.trained.options.epochs, result.trials.front().run.epochs);
  }
}

// The rows that confirm are none of those that chose the leaders, and all others are trained on.
TEST_F(Tune, RepeatsHoldOutRowsThatTheSearchTrainedOn) {
  Team team(1, nullptr, {});
  for (const double fraction : {0.1, 0.2, 0.5, 0.7}) {
    TrainOptions options = loan_options();
    options.valid_fraction = fraction;
    const TuneProblem problem = pose_search(loans(), options, {}, {}, team);
    const Split search = split_rows({.table = loans()}, problem.schema.label, problem.base, {});
    std::set<Rows> seen;
    for (const int repeat : {1, 2, 3}) {
      const RepeatRows own = rows_of_repeat(problem, repeat);
      Rows common, all;
      std::ranges::set_intersection(own.split.valid, search.valid, std::back_inserter(common));
      std::ranges::merge(own.split.train, own.split.valid, std::back_inserter(all));
      EXPECT_TRUE(common.empty());
      EXPECT_EQ(all, all_rows(loans()));
      EXPECT_EQ(own.drawn_of, search.train.size());
      EXPECT_EQ(own.split.valid.size(), std::min(search.valid.size(), search.train.size() / 2));
      EXPECT_TRUE(seen.insert(own.split.valid).second);
    }
  }
}

TEST_F(Tune, RepeatsAreJudgedOnAFifthOfAFileOfValidationRows) {
  Team team(1, nullptr, {});
  const Table valid = simulate({.rows = 100, .seed = 5});
  const TuneControl control{.valid = &valid};
  const TuneProblem problem = pose_search(loans(), loan_options(), {}, control, team);
  const Rows one = rows_of_repeat(problem, 1).split.valid;
  EXPECT_EQ(one.size(), 20u);
  EXPECT_NE(one, rows_of_repeat(problem, 2).split.valid);
  EXPECT_EQ(rows_of_repeat(problem, 1).split.train, all_rows(loans()));
  EXPECT_EQ(shared_rows(problem), 0.25);
  const TuneResult result = tune(loans(), loan_options(), {.trials = 3, .confirm = 2}, control);
  EXPECT_NE(result.trials[0].confirmed, result.trials[0].run.valid_metric);
}

// Where the first trial hardly learns.
TuneResult tune_with_a_clear_gain(Metric metric, int folds) {
  TrainOptions options = loan_options();
  options.metric = metric;
  options.learning_rate = 1e-5;
  return tune(
      simulate({.rows = 1000}), options,
      {.trials = 6, .confirm = 10, .folds = folds, .search = {"learning_rate=0.01:0.05:log"}});
}

TEST_F(Tune, AClearGainIsAccepted) {
  for (const int folds : {0, 3})
    EXPECT_NE(tune_with_a_clear_gain(Metric::automatic, folds).trials.front().run.trial, 1)
        << folds;
}

TEST_F(Tune, ALargerMetricIsBetterWhereItIs) {
  const TuneResult result = tune_with_a_clear_gain(Metric::auc, 0);
  ASSERT_NE(result.trials.front().run.trial, 1);
  const auto first = std::ranges::find(result.trials, 1, [](const auto& t) { return t.run.trial; });
  ASSERT_NE(first, result.trials.end());
  EXPECT_GT(result.trials.front().confirmed, first->confirmed);
}

TEST_F(Tune, SettingsThatDivergeAreTheWorstAndDoNotEndTheSearch) {
  // Each step multiplies the weights by about 1 - 10 * 100.
  const TuneOptions diverging = {.trials = 5,
                                 .search = {"learning_rate=10:10", "weight_decay=100:100"},
                                 .fix = {"architecture"}};
  const auto search = [&] {
    return tune(loans(), loan_options(), diverging, {.results = results_});
  };
  const TuneResult result = search();
  EXPECT_EQ(result.trials.front().run.trial, 1);
  EXPECT_TRUE(std::isnan(result.trials.back().run.valid_metric));
  EXPECT_THAT(lines(), Contains(HasSubstr("\"value\":null")));
  EXPECT_EQ(texts_of(search().trials), texts_of(result.trials));
}

TEST_F(Tune, TheFinalModelMayBeAnEnsemble) {
  TrainOptions options = loan_options();
  options.ensemble = 3;
  EXPECT_EQ(tune(loans(), options, {.trials = 2}).trained.best.size(), 3u);
}

// Trials compare networks; the trees come when the settings are found, and the validation rows say
// whether.
TEST_F(Tune, TheFinalModelHasTreesWhereTheyAreWanted) {
  TrainOptions options = loan_options();
  options.ensemble = 1;
  options.trees = 5;
  options.tree_share = 0.5;
  EXPECT_EQ(tune(loans(), options, {.trials = 2}).trained.model.num_members(), 2);
  options.trees = 0;
  EXPECT_EQ(tune(loans(), options, {.trials = 2}).trained.options.trees, 0);
}

TEST_F(Tune, ASearchThatWasCutOffAnywhereGoesOnAndEndsTheSame) {
  const TuneResult undisturbed = tune_to_file(10);
  const std::vector<std::string> whole = lines();
  for (std::size_t kept = 0; kept <= whole.size(); kept += 3) {
    std::string text;
    for (std::size_t i = 0; i < kept; ++i) text += whole[i] + "\n";
    write(text + (kept < whole.size() ? whole[kept].substr(0, whole[kept].size() / 2) : ""));
    const TuneResult resumed = tune_to_file(10);
    EXPECT_EQ(texts_of(resumed.trials), texts_of(undisturbed.trials)) << kept;
    EXPECT_EQ(bytes_of(resumed.trained), bytes_of(undisturbed.trained)) << kept;
    std::vector<std::string> now = lines();
    ASSERT_EQ(now.size(), whole.size()) << kept;
    for (const std::string& line : now) EXPECT_NO_THROW(Json::parse(line)) << line;
    now.resize(kept);
    EXPECT_EQ(now, std::vector(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept)));
  }
}

TEST_F(Tune, MoreTrialsGoOnFromFewer) {
  tune_to_file(4);
  tune_to_file(12);
  std::set<std::tuple<int, int, int>> seen;
  const std::vector<std::string> all = lines();
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Json run = Json::parse(all[i]);
    EXPECT_TRUE(
        seen.emplace(run["trial"].get<int>(), run["rung"].get<int>(), run["repeat"].get<int>())
            .second)
        << all[i];
  }
}

TEST_F(Tune, RefusesTheResultsOfAnotherSearch) {
  tune_to_file(1);
  const auto complaint = [&](const Table& table, const TrainOptions& options,
                             const TuneOptions& tune_options) {
    return error_of([&] { tune(table, options, tune_options, {.results = results_}); });
  };
  TrainOptions other = loan_options();
  other.seed = 2;
  EXPECT_THAT(complaint(loans(), other, {.trials = 1}), HasSubstr("seed was 1 and is 2 now"));
  EXPECT_THAT(complaint(loans(), loan_options(), {.trials = 1, .fix = {"lattices"}}),
              HasSubstr("fix was [] and is [\"lattices\"] now"));
  EXPECT_THAT(complaint(simulate({.rows = 400, .seed = 2}), loan_options(), {.trials = 1}),
              HasSubstr("of another search"));
  TrainOptions ensemble = loan_options();
  ensemble.ensemble = 2;
  EXPECT_EQ(complaint(loans(), ensemble, {.trials = 1}), "no error");
}

TEST_F(Tune, RefusesAFileThatIsNotOfASearchAndLeavesItAsItIs) {
  tune_to_file(1);
  const std::string first = lines()[0];
  const std::pair<std::string, const char*> bad[] = {
      {"age,income\n1,2", ":1: not JSON"},
      {"{}\n", ":1: not a line of tune's results"},
      {first + "\nx\n", ":2: not JSON"},
      {first + "\n{\"trial\":1}\n", ":2: not a line of tune's results"},
      {first + "\n" + run_line("0", "{}"), "'trial' is not a whole number from 1"},
      {first + "\n" + run_line("1e300", "{}"), "'trial' is not a whole number from 1"},
      {first + "\n" + run_line("1", "[]"), "'settings' is no object"},
      {first + "\n" + run_line("1", "{\"epochs\":7}"), "trial 1 has other settings"},
      {first + "\n" + run_line("2", "{}"), "trial 2 has other settings"},
  };
  for (const auto& [text, message] : bad) {
    write(text);
    EXPECT_THAT(error_of([&] { tune_to_file(1); }), HasSubstr(message));
    std::ostringstream now;
    now << std::ifstream(results_).rdbuf();
    EXPECT_EQ(now.str(), text);
  }
}

TEST_F(Tune, FoldsJudgeEachRowOnceAndTheFinalModelTrainsOnAll) {
  const TuneResult result = tune(loans(), loan_options(), {.trials = 3, .folds = 4});
  EXPECT_EQ(result.trained.train_rows, 400u);
  EXPECT_EQ(result.trained.valid_rows, 0u);
  ASSERT_EQ(result.trials.size(), 3u);
  EXPECT_EQ(texts_of(result.trials),
            texts_of(tune(loans(), loan_options(1), {.trials = 3, .folds = 4}).trials));
}

// So that one trial has as many networks as train gives the model.
TEST_F(Tune, ValidatesAsTrainDoes) {
  Team team(1);
  const auto validation = [&](const TuneOptions& tune, const TuneControl& control) {
    return pose_search(loans(), loan_options(), tune, control, team).validation;
  };
  EXPECT_EQ(validation({}, {}), Validation::split_off);
  EXPECT_EQ(validation({}, {.valid = &loans()}), Validation::given);
  EXPECT_EQ(validation({.folds = 3}, {}), Validation::none);
}

TEST_F(Tune, AFoldTrainsAsTablesOfItsRowsWould) {
  Team team(2);
  TuneProblem problem = pose_search(loans(), loan_options(), {.folds = 3}, {}, team);
  deal_folds(problem, 1);
  EXPECT_EQ(problem.folds.size(), 2u);
  for (const Split& fold : problem.folds[1]) {
    const Table train_rows = take_rows(loans(), fold.train);
    const Table valid_rows = take_rows(loans(), fold.valid);
    const TrainResult copied = train(train_rows, loan_options(), {.valid = &valid_rows});
    const TrainResult listed = train_on({.table = loans(), .rows = &fold}, loan_options(), {});
    EXPECT_EQ(bytes_of(listed), bytes_of(copied));
    EXPECT_EQ(listed.train_rows + listed.valid_rows, 400u);
  }
}

TEST_F(Tune, FoldsReadColumnsThatAreBorrowed) {
  Table borrowing = loans();
  std::vector<std::vector<float>> kept(borrowing.columns.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    kept[i] = std::move(borrowing.columns[i].numbers);
    borrowing.columns[i].numbers.clear();
    borrowing.columns[i].borrowed = kept[i];
  }
  const TuneOptions tune_options = {.trials = 2, .folds = 2};
  EXPECT_EQ(texts_of(tune(borrowing, loan_options(), tune_options).trials),
            texts_of(tune(loans(), loan_options(), tune_options).trials));
}

TEST_F(Tune, AStopEndsTheSearchWithTheBestSoFar) {
  std::stop_source stop;
  std::size_t finished = 0;
  const TuneResult result = tune(loans(), loan_options(), {.trials = 1000},
                                 {.progress =
                                      [&](const TuneProgress& progress) {
                                        finished = progress.runs.size();
                                        if (finished >= 5) stop.request_stop();
                                      },
                                  .stop = stop.get_token()});
  EXPECT_TRUE(result.stopped);
  EXPECT_FALSE(result.trained.stopped);
  EXPECT_LT(result.trials.size(), 20u);
  EXPECT_EQ(result.trained.best.front().valid_metric, result.trials.front().run.valid_metric);
}

TEST_F(Tune, AStopBeforeATrainingHasEndedLeavesNoModel) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(
      error_of([&] { tune(loans(), loan_options(), {.trials = 3}, {.stop = stop.get_token()}); }),
      HasSubstr("stopped before the first training"));
}

TEST_F(Tune, TimeEndsASearchOnceTheDefaultsAreJudged) {
  const TuneResult result = tune(loans(), loan_options(), {.minutes = 1e-9});
  EXPECT_FALSE(result.stopped);
  ASSERT_EQ(result.trials.size(), 1u);
  EXPECT_EQ(result.trials[0].run.trial, 1);
}

// The first trial took longer than the time of this search: none other could be confirmed.
TEST_F(Tune, PlansByTheSecondsOfTheFirstTrial) {
  const TemporaryFolder folder;
  const std::string results = (folder / "results").string();
  const auto trials_within_a_minute = [&] {
    return tune(loans(), loan_options(), {.minutes = 1}, {.results = results}).trials.size();
  };
  tune(loans(), loan_options(), {.trials = 1}, {.results = results});
  std::string lines(read_file(results).view());
  const std::size_t begin = lines.find("\"seconds\":") + 10, end = lines.find_first_of(",}", begin);
  lines.replace(begin, end - begin, "100");
  write_file_atomically(results, lines);
  EXPECT_EQ(trials_within_a_minute(), 1u);
}

TEST_F(Tune, RefusesWhatLeavesNothingToChooseOn) {
  TrainOptions all_rows = loan_options();
  all_rows.valid_fraction = 0;
  TrainOptions patient = loan_options();
  patient.patience = 3;
  TrainOptions averaged = loan_options();
  averaged.schedule = Schedule::averaged;
  const std::tuple<TrainOptions, TuneOptions, TuneControl, const char*> bad[] = {
      {all_rows, {}, {}, "valid_fraction: 0 leaves no rows"},
      {loan_options(), {.folds = 1}, {}, "1 fold has nothing to train on"},
      {loan_options(), {.folds = 100, .search = {"x"}}, {}, "wanted name=low:high"},
      {loan_options(), {.folds = 3}, {.valid = &loans()}, "wanted one of the two"},
      {patient, {.folds = 3}, {}, "patience: does not go with folds"},
      {averaged, {.folds = 3}, {}, "schedule: averaged does not go with folds"},
      {loan_options(),
       {.folds = 3, .search = {"schedule=averaged:cosine"}},
       {},
       "schedule: averaged does not go with folds"},
      {loan_options(), {.trials = -1}, {}, "trials: -1 is not between"},
      {{.label = "nothing"}, {}, {}, "nothing"},
  };
  for (const auto& [options, tune_options, control, message] : bad)
    EXPECT_THAT(
        error_of([&, &o = options, &t = tune_options, &c = control] { tune(loans(), o, t, c); }),
        HasSubstr(message));
}

}  // namespace
}  // namespace espalier
