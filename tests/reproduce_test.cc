// SPDX-License-Identifier: Apache-2.0
// `bench_reproduce` on synthetic files in the formats of the published ones.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "cli_fixture.h"
#include "espalier/error.h"
#include "espalier/train.h"
#include "reproduce/data.h"
#include "reproduce/rater_teacher.h"
#include "reproduce/records.h"
#include "reproduce/runs.h"
#include "reproduce/sha256.h"
#include "reproduce/tables.h"
#include "support/effort.h"

namespace espalier {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;

constexpr const char* kHeartColumns =
    ",age,sex,cp,trestbps,chol,fbs,restecg,thalach,exang,oldpeak,slope,ca,thal,target\n";

// Rows with an index in front, as the published files have it; the label follows chol.
std::string heart_rows(int count, unsigned seed) {
  std::mt19937 random(seed);
  std::string text = kHeartColumns;
  for (int row = 0; row < count; ++row) {
    text += std::to_string(row);
    unsigned chol = 0;
    for (int column = 0; column < 13; ++column) {
      const unsigned cell = random() % 100;
      if (column == 4) chol = cell;
      text += fmt::format(",{}", cell);
    }
    text += chol + random() % 40 > 70 ? ",1\n" : ",0\n";
  }
  return text;
}

constexpr std::size_t kRatings = 5000;  // to train, and to test

class Reproduce : public Cli {
 protected:
  void write_heart() const {
    fs::create_directories(path("data/heart"));
    write("data/heart/heart_train.csv", heart_rows(24, 1));
    write("data/heart/heart_test.csv", heart_rows(12, 2));
  }

  Reproduce() { ::setenv("ESPALIER_DATA", "data", 1); }

  Result reproduce(const std::string& args) const {
    return shell("'" ESPALIER_REPRODUCE_BINARY "' " + args);
  }

  static Json without_times(const std::string& report) {
    Json all = Json::parse(report);
    for (Json& row : all["ours"]) {
      row.erase("tune_seconds");
      for (Json& one : row["runs"]) one.erase("seconds");
    }
    return all;
  }

  // The records of finished runs, by name.
  std::map<std::string, std::string> records() const {
    std::map<std::string, std::string> found;
    if (!fs::exists(path("heart.md.runs"))) return found;
    for (const std::string& name : files("heart.md.runs")) {
      if (name.ends_with(".json")) found[name] = read(path("heart.md.runs/" + name));
    }
    return found;
  }

  // A row of a deep lattice network with the defaults and seed 1.
  void expect_made_by_train_and_evaluate(const Json& row) const {
    must(
        "train data/heart/heart_train.csv --label target --increasing trestbps,chol "
        "--task classification -o heart.esp --quiet");
    Json metrics = must_json("evaluate heart.esp data/heart/heart_test.csv");
    metrics.erase("rows");
    metrics.erase("rows_unlabelled");
    EXPECT_EQ(row["runs"][0]["test"], metrics);
  }

  std::vector<std::string> write_adult() const {
    const std::string person = "39, State-gov, 7, Bachelors, 13, Divorced, Sales, Wife, White, ";
    write("adult.data", person + "Male, 2174, 0, 40, United-States, <=50K\n" + person +
                            "Female, 0, 0, 40, Cuba, >50K\n" + person +
                            "Male, 0, 0, 40, ?, >50K\n\n");
    write("adult.test", "|1x3 Cross validator\n" + person +
                            "Male, 0, 0, 50, United-States, <=50K.\n" + person +
                            "Male, 0, 0, 60, India, >50K.\n\n");
    return {path("adult.data"), path("adult.test")};
  }
};

using LongReproduce = Reproduce;

TEST_F(LongReproduce, PutsThePublishedRowsBesideOursForPeopleAndPrograms) {
  write_heart();
  const Result result = reproduce("heart --seeds 1 --trials 2 --other-data --json -o heart.md");
  ASSERT_EQ(result.exit, 0) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("not the published data, do not compare:\n  heart/heart_train.csv has"));

  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["table"], "heart");
  EXPECT_EQ(report["published"].size(), 7U);
  EXPECT_EQ(report["published"][0]["test"], 0.86);
  ASSERT_EQ(report["ours"].size(), 3U * 2U * 6U);
  for (const Json& row : report["ours"]) {
    const bool folds = row["protocol"] == "cross_validation";
    EXPECT_EQ(row["runs"].size(), folds ? 5U : 1U) << row["model"];
    EXPECT_EQ(row["runs"][0]["options"]["increasing"].size(),
              row["constrained"].get<bool>() ? 2U : 0U);
    for (const Json& one : row["runs"]) EXPECT_EQ(one["proved"], true) << row["model"];
    const auto mean = row["test"]["mean"].get<double>();
    EXPECT_GE(mean, 0.2) << row["model"];
    EXPECT_LE(mean, 1) << row["model"];
    // Who selects on the test rows validates on them too.
    if (row["protocol"] == "test_selected") {
      EXPECT_EQ(row["validation"], row["test"]) << row["model"];
    }
  }

  expect_made_by_train_and_evaluate(report["ours"][0]);

  const std::string page = read(path("heart.md"));
  EXPECT_THAT(page, HasSubstr("## Heart Disease\n"));
  EXPECT_THAT(page, HasSubstr("`bench_reproduce heart --other-data --seeds 1 --trials 2`"));
  EXPECT_THAT(page,
              HasSubstr("| Lipschitz monotone nets (2023) | published |  |  |  | 89.6 ± 1.9 |"));
  EXPECT_THAT(page, HasSubstr("| Crystals | ours, default size | 9x3 |"));
  EXPECT_THAT(page, HasSubstr("All 84 models pass `verify`."));
  EXPECT_THAT(page, HasSubstr("### Repeated cross-validation\n"));
  EXPECT_THAT(page, HasSubstr("### Selected on the test rows\n"));
}

TEST_F(Reproduce, TrainsOnlyTheModelsThatAreAskedFor) {
  if (is_effort_low()) GTEST_SKIP() << "half a minute of training that the other tests do too";
  write_heart();
  const Result result = reproduce(
      "heart --seeds 1 --trials 1 --presets crystals,min-max --other-data --json -o heart.md");
  ASSERT_EQ(result.exit, 0) << result.err;
  const Json report = Json::parse(result.out);
  std::set<std::string> models;
  for (const Json& row : report["ours"]) {
    models.insert(row["model"].string());
    EXPECT_EQ(row["tuned"], false);
  }
  EXPECT_THAT(models, ElementsAre("Crystals", "Min-Max network"));
  EXPECT_THAT(read(path("heart.md")),
              HasSubstr("`bench_reproduce heart --other-data --presets crystals,min-max --seeds"));
  EXPECT_THAT(files(), ElementsAre("data", "heart.md"));  // no runs are left

  const Result unknown = reproduce("heart --presets dln-paper");
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.err,
              HasSubstr("presets: heart has no model 'dln-paper'; wanted some of dln"));
}

TEST_F(Reproduce, SaysWhichFilesAreWantedAndWhereTheyArePublished) {
  const Result absent = reproduce("usefulness");
  EXPECT_EQ(absent.exit, 1);
  EXPECT_THAT(absent.err, HasSubstr("data: the data of usefulness is not there; ESPALIER_DATA"));
  EXPECT_THAT(absent.err, HasSubstr("kaggle.com/c/GiveMeSomeCredit"));
  EXPECT_THAT(absent.err, HasSubstr("gmsc/cs-training.csv.gz  sha256 48675be4"));
  const Result unknown = reproduce("adlut");
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no table 'adlut'; wanted one of adult, user-intent, "));
}

TEST_F(Reproduce, RefusesFilesThatAreNotThePublishedOnesUnlessTold) {
  write_heart();
  const Result refused = reproduce("heart");
  EXPECT_EQ(refused.exit, 1);
  for (const char* file : {"heart_train.csv", "heart_test.csv"}) {
    const std::string sum = sha256(read(path("data/heart") / file));
    EXPECT_THAT(refused.err, HasSubstr(fmt::format("heart/{} has sha256 {}, wanted ", file, sum)));
  }
  EXPECT_THAT(refused.err, HasSubstr("wanted ee7d8a19"));
  EXPECT_THAT(refused.err, HasSubstr("--other-data takes them as they are"));
  if (is_effort_low()) GTEST_SKIP() << "the rest is training that the other tests do too";
  const Result told = reproduce("heart --seeds 1 --trials 1 --presets min-max --other-data");
  EXPECT_EQ(told.exit, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("**Not the published data, do not compare**: heart/heart_train"));
}

TEST_F(LongReproduce, KilledAtRandomItGoesOnAndEndsWithTheSameReport) {
  write_heart();
  const std::string args = "heart --seeds 2 --trials 3 --presets min-max --other-data --json";
  const auto begin = std::chrono::steady_clock::now();
  const Json undisturbed = without_times(reproduce(args).out);
  const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - begin;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> share(0, 0.4);
  int kills = 0;
  for (int life = 0;; ++life) {
    const auto before = records();
    const pid_t child = start(fmt::format("{} -o heart.md --threads {}", args, 1 + life % 3),
                              ESPALIER_REPRODUCE_BINARY);
    ASSERT_GE(child, 0);  // kill() takes -1 for every process
    if (ends_within(child, whole * share(random) * (1 + 0.1 * life))) break;
    const auto after = records();
    // A record has the seconds of its training, so another training would show; they go when the
    // report is there.
    for (const auto& [name, text] : before) {
      const auto found = after.find(name);
      EXPECT_TRUE(found == after.end() ? fs::exists(path("heart.md")) : found->second == text)
          << name;
    }
    kills += after.size() > before.size();
  }
  EXPECT_GT(kills, 0);
  EXPECT_EQ(without_times(read(root_ / "out")), undisturbed);
  EXPECT_THAT(files(), ElementsAre("data", "heart.md"));
}

TEST_F(Reproduce, ARecordIsFoundByTheSameProgramDataAndSettingsAlone) {
  const std::string folder = path("runs");
  const Json origin = {{"program", "a"}, {"data", {"1", "2"}}}, work = {{"seed", 1}};
  const Json result = {{"test", 0.1 + 0.2}, {"auc", nullptr}};
  const Records records(folder, origin);
  EXPECT_EQ(records.find(work), std::nullopt);
  records.keep(work, result);
  EXPECT_EQ(Records(folder, origin).find(work), result);
  EXPECT_EQ(records.count(), 1U);
  EXPECT_EQ(records.find({{"seed", 2}}), std::nullopt);
  EXPECT_EQ(Records(folder, {{"program", "a"}, {"data", {"1", "3"}}}).find(work), std::nullopt);
  EXPECT_EQ(Records(folder, {{"program", "b"}, {"data", {"1", "2"}}}).find(work), std::nullopt);
  EXPECT_EQ(Records("", origin).find(work), std::nullopt);

  write("runs/" + *files("runs").begin(), "{\"work\": {\"seed\": 1}");
  EXPECT_THROW(records.find(work), Error);
  write("runs/notes", "of somebody else");
  records.remove();
  EXPECT_THAT(files("runs"), ElementsAre("notes"));
  EXPECT_THROW(Records(path("runs/notes"), origin), Error);
}

TEST(Sha256, IsTheStandards) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_F(Reproduce, SumsAreThoseOfCoreutilsAtEveryLengthOfABlock) {
  std::mt19937 random(1);
  std::string all, wanted;
  for (std::size_t size = 0; size < 140; ++size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    write(fmt::format("{:03}", size), bytes);
    wanted += sha256(bytes) + "\n";
  }
  EXPECT_EQ(shell("sha256sum ??? | cut -c -64").out, wanted);
}

TEST_F(Reproduce, RefusesTooFewRowsToCut) {
  fs::create_directories(path("data/gmsc"));
  write("data/gmsc/cs-training.csv.gz",
        ",SeriousDlqin2yrs,NumberOfTime30-59DaysPastDueNotWorse,NumberOfOpenCreditLinesAndLoans,"
        "NumberOfTimes90DaysLate,NumberRealEstateLoansOrLines,"
        "NumberOfTime60-89DaysPastDueNotWorse\n1,0,0,13,98,6,2\n");
  EXPECT_THAT(reproduce("usefulness --other-data").err, HasSubstr("1 rows, wanted at least 77903"));
}

TEST_F(Reproduce, ReadsAdultAsItIsPublished) {
  const Data data = read_adult(write_adult(), Scale::quick);
  EXPECT_EQ(data.train.num_rows, 3U);
  EXPECT_EQ(data.test.num_rows, 2U);
  EXPECT_EQ(data.train.find("fnlwgt"), nullptr);
  EXPECT_THAT(data.train.find("capital-gain")->numbers, ElementsAre(2174, 0, 0));
  EXPECT_THAT(data.test.find("income")->categories, ElementsAre("<=50K", ">50K"));
}

TEST_F(Reproduce, TrainsAtHomeAndTestsAbroad) {
  const Data data = read_adult_abroad(write_adult(), Scale::quick);
  EXPECT_THAT(data.train.find("hours-per-week")->numbers, ElementsAre(40, 50));
  EXPECT_THAT(data.test.find("hours-per-week")->numbers, ElementsAre(40, 60));
  EXPECT_EQ(data.train.find("native-country"), nullptr);
}

Data numbered_rows(int train, int test) {
  Data data;
  data.train.columns.push_back({.name = "x"});
  data.test.columns.push_back({.name = "x"});
  for (int row = 0; row < train + test; ++row) {
    Table& table = row < train ? data.train : data.test;
    table.columns[0].numbers.push_back(static_cast<float>(row));
    ++table.num_rows;
  }
  return data;
}

TEST(ReproduceFolds, JudgeEachRowOnceByAModelThatHasNotSeenIt) {
  std::vector<float> scored, all(23);
  std::iota(all.begin(), all.end(), 0.0F);
  for (const Data& fold : make_folds(numbered_rows(16, 7), 5, 3)) {
    const std::vector<float>& test = fold.test.columns[0].numbers;
    scored.insert(scored.end(), test.begin(), test.end());
    std::vector<float> both = fold.train.columns[0].numbers;
    both.insert(both.end(), test.begin(), test.end());
    std::ranges::sort(both);
    EXPECT_EQ(both, all);
  }
  std::ranges::sort(scored);
  EXPECT_EQ(scored, all);
}

TEST(ReproduceFolds, AreDealtAgainForEachSeed) {
  const Data data = numbered_rows(40, 10);
  const auto first_test = [&](std::uint64_t seed) {
    return make_folds(data, 5, seed)[0].test.columns[0].numbers;
  };
  EXPECT_EQ(first_test(1), first_test(1));
  EXPECT_NE(first_test(1), first_test(2));
}

TEST(RaterTeacher, RisesWithEverySignal) {
  std::mt19937 random(1);
  const auto uniform = [&] { return static_cast<double>(random()) * 0x1p-32; };
  for (int pair = 0; pair < 1000; ++pair) {
    std::vector<double> low(10);
    std::ranges::generate(low, uniform);
    for (std::size_t i = 0; i < low.size(); ++i) {
      std::vector<double> high = low;
      high[i] += (1 - high[i]) * uniform();
      EXPECT_LE(expected_score(low), expected_score(high)) << "signal " << i;
    }
  }
}

TEST(RaterTeacher, ScoresAreMeansOfFewRatersAroundTheTruth) {
  const Ratings ratings = simulate_ratings(20000, 7);
  const std::vector<float>& scores = ratings.table.find(kRaterScore)->numbers;
  EXPECT_THAT(scores, Each(AllOf(Ge(0), Le(4))));
  EXPECT_LE(std::set<float>(scores.begin(), scores.end()).size(), 245U);  // 16 to 80 answers
  double bias = 0;
  for (std::size_t row = 0; row < scores.size(); ++row) bias += scores[row] - ratings.truth[row];
  EXPECT_NEAR(bias / 20000, 0, 0.02);
  EXPECT_EQ(simulate_ratings(20000, 7).truth, ratings.truth);
}

// The squared errors of a preset on fresh ratings.
std::vector<double> squared_errors(const std::string& preset, const Table& test) {
  const Model model = train(simulate_ratings(kRatings, 1).table, {.label = kRaterScore,
                                                                  .increasing = rater_signals(),
                                                                  .task = Task::regression,
                                                                  .architecture = preset,
                                                                  .ensemble = 1})
                          .model;
  const std::vector<float> predicted = model.predict(test);
  const std::vector<float>& scores = test.find(kRaterScore)->numbers;
  std::vector<double> errors;
  for (std::size_t row = 0; row < scores.size(); ++row) {
    const double error = predicted[row] - scores[row];
    errors.push_back(error * error);
  }
  return errors;
}

// The mean of a - b in its standard errors, row by row.
double standard_errors_between(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0, squares = 0;
  for (std::size_t row = 0; row < a.size(); ++row) {
    sum += a[row] - b[row];
    squares += (a[row] - b[row]) * (a[row] - b[row]);
  }
  const auto n = static_cast<double>(a.size());
  return sum / std::sqrt(squares - sum * sum / n);
}

TEST(RaterTeacher, TellsASumOfCurvesAndAMinMaxNetworkFromLattices) {
  const Table test = simulate_ratings(kRatings, 2).table;
  const std::vector<double> lattices = squared_errors("crystals(10x7)", test);
  EXPECT_GE(standard_errors_between(squared_errors("calibrated-linear", test), lattices), 10);
  EXPECT_GE(standard_errors_between(squared_errors("min-max(10x5)", test), lattices), 10);
}

TEST(ReproduceTables, ModelsHaveTheSizesThatWerePublished) {
  for (const Experiment& experiment : experiments()) {
    for (const ModelSpec& model : experiment.models) {
      const auto published = std::ranges::find(experiment.rows, model.name, &PublishedRow::model);
      if (published == experiment.rows.end()) continue;
      EXPECT_EQ(model.size, published->size) << experiment.name << ": " << model.name;
    }
  }
}

TEST(ReproduceTables, SizesAreReadFromLayers) {
  EXPECT_EQ(size_of("cal(10) lin(6) cal(5) lat(2x3) cal(5) lin(1)"), "2x3");
  EXPECT_EQ(size_of("lin(20,monotone=20) minmax(5x4)"), "5x4");
  EXPECT_EQ(size_of("lin(7) relu lin(7) relu lin(1)"), "2x7");
  EXPECT_EQ(size_of("cal(10) lin(1)"), "");
}

}  // namespace
}  // namespace espalier
