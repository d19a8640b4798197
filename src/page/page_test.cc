// SPDX-License-Identifier: Apache-2.0
// The numbers of a page. tests/page_test.py looks at it in a browser.
#include "espalier/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "espalier/error.h"
#include "espalier/simulate.h"
#include "espalier/train.h"
#include "page/bootstrap.h"
#include "page/class_charts.h"
#include "page/number_charts.h"
#include "page/quality.h"
#include "page/sample.h"
#include "page/scored_table.h"
#include "page/text.h"
#include "support/temporary_folder.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two classes with known probabilities, and weights of 1 unless others are given.
ScoredTable two_classes(const std::vector<double>& labels, const std::vector<float>& predictions) {
  ScoredTable all{.label = {.name = "y", .loss = Loss::log_loss, .classes = {"no", "yes"}},
                  .labels = labels,
                  .predictions = predictions};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    all.rows.push_back(i);
    all.scores.push_back(std::log(predictions[i] / (1 - predictions[i])));
  }
  return all;
}

// So many rows whose labels are drawn with the probability that is predicted.
ScoredTable calibrated_rows(std::size_t count, Random random) {
  std::vector<double> labels;
  std::vector<float> predictions;
  for (std::size_t i = 0; i < count; ++i) {
    predictions.push_back(static_cast<float>(0.05 + 0.9 * random.uniform()));
    labels.push_back(random.uniform() < predictions.back() ? 1 : 0);
  }
  return two_classes(labels, predictions);
}

Json data_of(const std::string& page) {
  const std::size_t begin = page.find(R"(id="data">)") + 10;
  return Json::parse(page.substr(begin, page.find("</script>", begin) - begin), "page");
}

TEST(PageText, NothingInAScriptLooksLikeMarkup) {
  const Json hostile = {{"</script><script>", "<!-- & \" ' \\ \n \xff"}, {"ü", "名前"}};
  const std::string text = script_text(hostile);
  for (const char c : {'<', '>', '&', '\n'}) EXPECT_EQ(text.find(c), text.npos) << text;
  const Json read = Json::parse(text);
  EXPECT_EQ(read.members()[0].name, "</script><script>");
  EXPECT_EQ(read["ü"], "名前");
}

TEST(PageText, Base64IsThatOfTheStandard) {
  for (const auto& [bytes, text] : std::vector<std::pair<std::string, std::string>>{
           {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}}) {
    EXPECT_EQ(base64(bytes), text);
  }
  EXPECT_EQ(base64(std::vector<float>{1.0f}), "AACAPw==");
}

TEST(PageText, NumbersHaveFiveDigits) {
  EXPECT_EQ(rounded(0.123456789).dump(), "0.12346");
  EXPECT_EQ(rounded(-1234567).dump(), "-1234600.0");
  EXPECT_TRUE(rounded(NAN).is_null());
  EXPECT_TRUE(rounded(INFINITY).is_null());
}

TEST(PageSample, DrawsEachRowAtMostOnceAndAllAlike) {
  EXPECT_EQ(sample_rows(3, 10, Random(1)), (Rows{0, 1, 2}));
  std::vector<int> drawn(20);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const Rows rows = sample_rows(20, 5, Random(seed));
    ASSERT_EQ(rows.size(), 5u);
    ASSERT_TRUE(std::ranges::is_sorted(rows));
    for (const std::uint64_t row : rows) ++drawn[row];
  }
  for (const int count : drawn) EXPECT_NEAR(count, 500, 100);
}

const Estimate& estimate_of(const std::vector<Estimate>& estimates, Metric metric) {
  return *std::ranges::find(estimates, metric, &Estimate::metric);
}

// Of a mean the bootstrap must find the textbook's interval, from all rows and from a sample.
TEST(PageBootstrap, FindsTheIntervalOfAMean) {
  ThreadPool pool(2);
  for (const std::size_t rows : {500u, 3000u}) {
    const ScoredTable all = calibrated_rows(rows, Random(rows));
    const auto estimates =
        estimate_metrics(all, {.resamples = 400, .most_rows = 1000}, Random(1), pool);
    const Estimate brier = estimate_of(estimates, Metric::brier);
    Mean mean;
    for (std::size_t i = 0; i < all.size(); ++i)
      mean.add(std::pow(all.labels[i] - static_cast<double>(all.predictions[i]), 2), 1);
    const double half = mean.interval(MeanOf::numbers).high - mean.value();
    EXPECT_NEAR(brier.interval.high - brier.value, half, 0.25 * half);
    EXPECT_NEAR(brier.value - brier.interval.low, half, 0.25 * half);
  }
}

// All rows right, or none: resamples are all alike, and a few of them tell nothing.
TEST(PageBootstrap, RatesHaveWilsonsIntervalAndFewRowsHaveNone) {
  ThreadPool pool(2);
  for (const std::size_t rows : {1u, 19u, 20u, 60u}) {
    for (const float predicted : {0.01f, 0.99f}) {
      const ScoredTable all =
          two_classes(std::vector<double>(rows, 0), std::vector<float>(rows, predicted));
      const auto estimates = estimate_metrics(all, {.resamples = 50}, Random(1), pool);
      const Estimate accuracy = estimate_of(estimates, Metric::accuracy);
      EXPECT_EQ(accuracy.value, predicted < 0.5f ? 1 : 0);
      Mean hits;
      for (std::size_t i = 0; i < rows; ++i) hits.add(accuracy.value, 1);
      const Interval wilson = hits.interval(MeanOf::rates);
      for (const Estimate& own : estimates)
        EXPECT_TRUE(rows >= 20 || std::isnan(own.interval.low)) << to_word(own.metric);
      if (rows < 20) continue;
      EXPECT_EQ(accuracy.interval.low, wilson.low);
      EXPECT_EQ(accuracy.interval.high, wilson.high);
      EXPECT_LT(accuracy.interval.low, accuracy.interval.high);
    }
  }
}

// The mean of labels that are numbers is no rate, whatever values a group has.
TEST(PageCharts, OnlyClassesHaveRates) {
  const auto claims = [](double label) {
    ScoredTable all{.label = {.name = "y", .loss = Loss::tweedie, .power = 1.5}};
    for (std::uint64_t i = 0; i < 30; ++i) {
      all.rows.push_back(i);
      all.labels.push_back(i == 0 ? label : 0);
      all.predictions.push_back(0.5f);
      all.scores.push_back(0);
    }
    ThreadPool pool(1);
    return quality_json(all, Random(1), pool)["calibration"];
  };
  EXPECT_TRUE(claims(0)["high"][0].is_null());
  EXPECT_EQ(claims(1)["low"][0], 0.0);
  EXPECT_NEAR(claims(1)["high"][0].get<double>(), 1.0 / 30 + 1.96 / 30, 1e-3);
}

TEST(PageBootstrap, DoesNotDependOnThreads) {
  const ScoredTable all = calibrated_rows(300, Random(1));
  ThreadPool one(1), three(3);
  EXPECT_EQ(quality_json(all, Random(1), one), quality_json(all, Random(1), three));
}

TEST(PageCharts, TheSweepCountsWhatReachesAThreshold) {
  const Json sweep = sweep_json(two_classes({1, 0, 1, 0}, {0.9f, 0.6f, 0.6f, 0.2f}));
  EXPECT_EQ(sweep["flagged"].dump(), "[0.25,0.75,1.0]");
  EXPECT_EQ(sweep["recall"].dump(), "[0.5,1.0,1.0]");
  EXPECT_EQ(sweep["fall_out"].dump(), "[0.0,0.5,1.0]");
  EXPECT_EQ(sweep["precision"].dump(), "[1.0,0.66667,0.5]");
}

TEST(PageCharts, CalibratedRowsLieOnTheDiagonal) {
  const ScoredTable all = calibrated_rows(20'000, Random(1));
  std::vector<Comparison> rows;
  for (std::size_t i = 0; i < all.size(); ++i) rows.push_back(compare(all, i));
  const Json json = calibration_json(rows, 10, MeanOf::rates);
  ASSERT_EQ(json["seen"].size(), 10u);
  double share = 0;
  for (std::size_t b = 0; b < 10; ++b) {
    EXPECT_NEAR(json["seen"][b].get<double>(), json["predicted"][b].get<double>(), 0.05);
    EXPECT_LT(json["low"][b].get<double>(), json["seen"][b].get<double>());
    EXPECT_GT(json["high"][b].get<double>(), json["seen"][b].get<double>());
    share += json["share"][b].get<double>();
  }
  EXPECT_NEAR(share, 1, 1e-4);
}

// No bin is so small that it tells of single rows.
TEST(PageCharts, FewRowsMakeFewBins) {
  for (const std::size_t count : {1u, 19u, 50u, 95u}) {
    const ScoredTable all = calibrated_rows(count, Random(count));
    std::vector<Comparison> rows;
    for (std::size_t i = 0; i < count; ++i) rows.push_back(compare(all, i));
    const Json json = calibration_json(rows, 10, MeanOf::rates);
    for (const Json& share : json["share"]) {
      EXPECT_GE(share.get<double>() * static_cast<double>(count),
                std::min<double>(20, static_cast<double>(count)) - 0.01);
    }
  }
}

TEST(PageCharts, TheLorenzCurveOfEqualRatesIsTheDiagonal) {
  ScoredTable all{.label = {.name = "y", .loss = Loss::poisson, .power = 1}};
  for (std::uint64_t i = 0; i < 50; ++i) {
    all.rows.push_back(i);
    all.exposures.push_back(1 + static_cast<float>(i % 3));
    all.labels.push_back(2 * all.exposures.back());
    all.predictions.push_back(0.5f * all.exposures.back());
  }
  const Json json = lorenz_json(all);
  for (std::size_t i = 0; i < json["exposure"].size(); ++i) {
    EXPECT_NEAR(json["labels"][i].get<double>(), json["exposure"][i].get<double>(), 1e-4);
    EXPECT_NEAR(json["predictions"][i].get<double>(), json["exposure"][i].get<double>(), 1e-4);
  }
}

class PageOfLoans : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    table_ = new Table(simulate({.rows = 250}));
    TrainOptions options{.label = "default", .increasing = {"debt_ratio"}};
    options.architecture = "dln(4x2)";
    options.interactions = {"none"};
    options.epochs = 2;
    model_ = new Model(train(*table_, options).model);
  }
  static void TearDownTestSuite() {
    delete table_;
    delete model_;
  }

  static const Table* table_;
  static const Model* model_;
};
const Table* PageOfLoans::table_ = nullptr;
const Model* PageOfLoans::model_ = nullptr;

TEST_F(PageOfLoans, HasTheSameBytesForAnyNumberOfThreads) {
  const PageOptions options = {.by = "region", .pairs = 500, .threads = 1};
  PageOptions others = options;
  others.threads = 3;
  EXPECT_EQ(page_html(*model_, *table_, options), page_html(*model_, *table_, others));
}

TEST_F(PageOfLoans, HoldsWhatTheModelAndItsProofSay) {
  const Json data = data_of(page_html(*model_, *table_, {.by = "age", .pairs = 500}));
  EXPECT_EQ(data["rows"], 250);
  EXPECT_EQ(data["model"]["hash"], model_->hash());
  EXPECT_EQ(data["proof"]["pairs"], 500);
  EXPECT_EQ(data["proof"]["holds"], true);
  EXPECT_EQ(data["columns"]["list"].size(), model_->schema().features.size());
  EXPECT_EQ(data["columns"]["list"][1]["direction"], "increasing");
  EXPECT_EQ(data["baseline"].size(), model_->schema().features.size());
  const Evaluation evaluation = evaluate(*model_, *table_);
  EXPECT_NEAR(data["quality"]["metrics"][0]["value"].get<double>(), evaluation.metrics[0].value,
              1e-4);
  std::size_t rows = 0;
  for (const Json& group : data["groups"]["list"]) rows += group["rows"].get<std::size_t>();
  EXPECT_EQ(rows, 250u);
}

// The curve of a promised column never falls.
TEST_F(PageOfLoans, CurvesKeepTheirDirections) {
  const Json data = data_of(page_html(*model_, *table_, {.pairs = 0}));
  const Json& means = data["columns"]["list"][1]["curve"]["means"];
  for (std::size_t i = 1; i < means.size(); ++i)
    EXPECT_GE(means[i][0].get<double>(), means[i - 1][0].get<double>());
}

TEST_F(PageOfLoans, AsksNoNetworkAndRunsOnlyItsOwnScript) {
  const std::string page = page_html(*model_, *table_, {.pairs = 0});
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("script-src 'sha256-"));
  EXPECT_THAT(page, Not(HasSubstr("unsafe-inline")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
}

TEST_F(PageOfLoans, WithoutLabelsHasNoQuality) {
  Table table = *table_;
  std::erase_if(table.columns, [](const Column& column) { return column.name == "default"; });
  EXPECT_TRUE(data_of(page_html(*model_, table, {.pairs = 0}))["quality"].is_null());
  try {
    page_html(*model_, table, {.by = "region", .pairs = 0});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::argument);
    EXPECT_THAT(error.what(), HasSubstr("no label 'default'"));
  }
}

TEST_F(PageOfLoans, LeavesNoFileBehindWhenItFails) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "report.html";
  EXPECT_THROW(write_page(*model_, *table_, path, {.by = "nobody", .pairs = 0}), Error);
  EXPECT_THROW(write_page(*model_, *table_, path,
                          {.progress =
                               [](double share, std::string_view) {
                                 if (share > 0.5) throw std::runtime_error("stop");
                               }}),
               std::runtime_error);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  write_page(*model_, *table_, path, {.pairs = 0});
  EXPECT_TRUE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace espalier
