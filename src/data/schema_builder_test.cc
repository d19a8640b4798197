// SPDX-License-Identifier: Apache-2.0
#include "data/schema_builder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>

#include "core/error_of.h"
#include "data/encode.h"
#include "espalier/csv.h"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Feature> features_of(const char* text, const TrainOptions& options,
                                 std::vector<std::string>* warnings = nullptr) {
  const Table table = parse_csv(text, {}, "t.csv");
  return build_features(table, options, all_rows(table), [&](const std::string& warning) {
    if (warnings != nullptr) warnings->push_back(warning);
  });
}

std::vector<float> keypoints_of(const char* text, const KeypointPlan& plan) {
  const Table table = parse_csv(text);
  std::vector<Feature> features =
      build_features(table, {.label = "y"}, all_rows(table), [](const std::string&) {});
  fit_keypoints(plan, table, all_rows(table), features);
  return features[0].keypoints;
}

TEST(Label, TwoValuesMeanClassificationAndMoreNumbersRegression) {
  EXPECT_EQ(build_label(parse_csv("y,x\n0,1\n1,2\n"), {.label = "y"}).task, Task::classification);
  EXPECT_EQ(build_label(parse_csv("y,x\n0,1\n1,2\n2,2\n"), {.label = "y"}).task, Task::regression);
  EXPECT_EQ(
      build_label(parse_csv("y,x\n0,1\n1,2\n"), {.label = "y", .task = Task::regression}).task,
      Task::regression);
}

// Numbers around a base at any distance, also one that floats cannot tell: what the label means is
// decided by the numbers of the file.
RC_GTEST_PROP(Label, TheTaskNeverDependsOnRounding, ()) {
  const double base = *rc::gen::element(0.0, 1.0, 1e7, -1e8, 1e15, 1e37);
  const double step = *rc::gen::element(1e-12, 1e-3, 0.1, 1.0, 1e3);
  std::set<double> values;
  std::string text = "y,x\n";
  for (int i = 0; i < *rc::gen::inRange(2, 9); ++i) {
    const double value = base + step * *rc::gen::inRange(0, 4);
    values.insert(value);
    text += fmt::format("{},1\n", value);
  }
  if (values.size() < 2) return;
  const Table table = parse_csv(text);
  const Label label = build_label(table, {.label = "y"});
  RC_ASSERT(label.task == (values.size() == 2 ? Task::classification : Task::regression));
  // Each cell is the class that it names.
  if (label.task == Task::regression) return;
  const std::vector<double> labels = encode_labels(label, table, all_rows(table));
  for (std::size_t row = 0; row < labels.size(); ++row)
    RC_ASSERT(labels[row] == (table.columns[0].number(row) == *values.rbegin() ? 1 : 0));
}

TEST(Label, WhatNoFloatHoldsIsRefused) {
  for (const char* text : {"y,x\n1e300,1\n-1e300,2\n", "y,x\n1e300,1\n2,2\n3,2\n4,2\n",
                           "y,x\n1,1\n2,2\n3,2\n1e39,2\n", "y,x\ninf,1\n2,2\n"}) {
    const Table table = parse_csv(text, {}, "t.csv");
    EXPECT_THAT(error_of([&] {
                  encode_labels(build_label(table, {.label = "y"}), table, all_rows(table));
                }),
                HasSubstr("is no label"))
        << text;
  }
  EXPECT_THAT(error_of([&] {
                build_label(parse_csv("y,x\n1e300,1\n-1e300,2\n", {}, "t.csv"), {.label = "y"});
              }),
              HasSubstr("t.csv: label 'y': -1e+300 is no label; wanted a number that a 32-bit"));
}

TEST(Label, ThePositiveClassIsTheLargerOrLaterOneUnlessNamed) {
  EXPECT_EQ(build_label(parse_csv("y,x\n2,1\n10,2\n"), {.label = "y"}).positive, "10");
  EXPECT_EQ(build_label(parse_csv("y,x\nyes,1\nno,2\n"), {.label = "y"}).positive, "yes");
  EXPECT_EQ(build_label(parse_csv("y,x\nyes,1\nno,2\n"), {.label = "y", .positive = "no"}).positive,
            "no");
  EXPECT_EQ(build_label(parse_csv("y,x\n0,1\n1,2\n"), {.label = "y", .positive = "0.0"}).positive,
            "0");
}

TEST(Label, RefusesWhatCannotBePredicted) {
  const auto error = [](const char* text, const TrainOptions& options) {
    return error_of([&] { build_label(parse_csv(text, {}, "t.csv"), options); });
  };
  EXPECT_THAT(error("y,x\n1,1\n1,2\n", {.label = "y"}),
              HasSubstr("t.csv: label 'y' has one value only, '1'"));
  EXPECT_THAT(error("y,x\na,1\nb,2\nc,2\n", {.label = "y"}), HasSubstr("more than two values"));
  EXPECT_THAT(error("y,x\na,1\nb,2\nc,2\n", {.label = "y", .task = Task::regression}),
              HasSubstr("wants numbers"));
  EXPECT_THAT(error("y,x\n,1\n,2\n", {.label = "y"}), HasSubstr("missing in every row"));
  EXPECT_THAT(error("y,x\n0,1\n1,2\n", {.label = "z"}), HasSubstr("no column 'z'"));
  EXPECT_THAT(error("y,x\n0,1\n1,2\n", {}), HasSubstr("which column"));
  EXPECT_THAT(error("y,x\n0,1\n1,2\n", {.label = "y", .positive = "7"}),
              HasSubstr("'7' is no value"));
}

TEST(Features, ColumnsWithoutInformationAreIgnoredWithAWarning) {
  std::vector<std::string> warnings;
  const auto features = features_of("y,same,empty,x\n0,5,,1\n1,5,,2\n", {.label = "y"}, &warnings);
  ASSERT_EQ(features.size(), 1u);
  EXPECT_EQ(features[0].name, "x");
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("'same' is ignored: it has the same value"),
                                    HasSubstr("'empty' is ignored: all its cells are missing")));
}

TEST(Features, NumbersThatFloatsCannotTellApartAreNamed) {
  std::vector<std::string> warnings;
  EXPECT_EQ(features_of("y,id,x\n0,16777216,1\n1,16777217,2\n", {.label = "y"}, &warnings).size(),
            1u);
  EXPECT_THAT(warnings,
              ElementsAre(HasSubstr("'id' is ignored: its numbers differ by less than 32-bit")));
  warnings.clear();
  EXPECT_EQ(
      features_of("y,id\n0,16777216\n1,16777217\n1,16777219\n", {.label = "y"}, &warnings).size(),
      1u);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("'id': some of its numbers differ by less than")));
  warnings.clear();
  features_of("y,id\n0,16777216\n1,16777218\n1,0.1\n", {.label = "y"}, &warnings);
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(Features, AMissingWordHasNoPlaceInAnOrder) {
  const char* text = "y,q\n0,NA\n1,Po\n0,Ex\n1,Po\n";
  const TrainOptions options = {.label = "y", .increasing = {"q"}, .order = {"q=NA<Po<Ex"}};
  EXPECT_THAT(error_of([&] { features_of(text, options); }),
              HasSubstr("order: 'q': 'NA' means a missing cell, which has no place in an order; if "
                        "it is a word of this column, say so: --not-missing 'q=NA'"));
  EXPECT_THAT(error_of([&] {
                const Table table = parse_csv(text, {.missing = {"Po"}});
                build_features(table, {.label = "y", .order = {"q=Po<Ex"}}, all_rows(table),
                               [](const std::string&) {});
              }),
              HasSubstr("'Po' means a missing cell"));
  const Table table = parse_csv(text, {.not_missing = {{"q", {"NA"}}}});
  const auto features = build_features(table, options, all_rows(table), [](const std::string&) {});
  EXPECT_THAT(features[0].words, ElementsAre("NA", "Po", "Ex"));
  EXPECT_THAT(features[0].not_missing, ElementsAre("NA"));
  EXPECT_FALSE(features[0].learns_missing);
}

TEST(Features, WordsThatAreTheSameNumberAreOneWord) {
  const CsvOptions csv = {.types = {{"c", ColumnType::category}}};
  const auto words = [&](const char* text) {
    const Table table = parse_csv(text, csv);
    return build_features(table, {.label = "y"}, all_rows(table), [](const std::string&) {})[0]
        .words;
  };
  EXPECT_EQ(words("y,c\n0,1\n1,2.0\n0,1.0\n1,1.00\n"), words("y,c\n0,1\n1,2\n0,1\n1,1\n"));
  EXPECT_THAT(words("y,c\n0,007\n1,7\n0,7.0\n"), ElementsAre("7", "007"));
}

TEST(Label, DatesAreRefused) {
  for (const char* date :
       {"2019-01-02", "1/2/2019", "01.02.2019", "2019-01-02 03:04", "2019-1-2T0"}) {
    const std::string text = fmt::format("y,x\n{},1\n2020-01-01,2\n", date);
    EXPECT_THAT(error_of([&] { build_label(parse_csv(text), {.label = "y"}); }),
                HasSubstr("has dates such as"))
        << date;
  }
  for (const char* word : {"1-2-3", "2019", "2019-01", "192.168.0.1", "2019-01-02x", "a-b-c"}) {
    const std::string text = fmt::format("y,x\n{},1\nno,2\n", word);
    EXPECT_EQ(build_label(parse_csv(text), {.label = "y"}).task, Task::classification) << word;
  }
}

TEST(Features, OneValueAndMissingCellsIsInformation) {
  EXPECT_EQ(features_of("y,x\n0,5\n1,\n", {.label = "y"}).size(), 1u);
}

TEST(Features, CategoriesCountMissingAsTheirOwnAndPoolTheRarest) {
  const char* text = "y,c\n0,a\n1,a\n0,a\n1,b\n0,b\n1,\n0,d\n1,e\n";
  auto feature = features_of(text, {.label = "y"})[0];
  EXPECT_THAT(feature.words, ElementsAre("a", "b", "", "d", "e"));
  EXPECT_FLOAT_EQ(feature.shares[0], 3.0f / 8);
  EXPECT_FALSE(feature.pools_rare);
  feature = features_of(text, {.label = "y", .max_categories = 3})[0];
  EXPECT_THAT(feature.words, ElementsAre("a", "b", "(rare)"));
  EXPECT_TRUE(feature.pools_rare);
  EXPECT_FLOAT_EQ(feature.shares[2], 3.0f / 8);
}

TEST(Features, DirectionsMustNameOneColumnOnce) {
  const char* text = "y,income,region\n0,1,n\n1,2,s\n";
  const auto error = [&](const TrainOptions& options) {
    return error_of([&] { features_of(text, options); });
  };
  EXPECT_THAT(error({.label = "y", .increasing = {"incme"}}), HasSubstr("did you mean 'income'?"));
  EXPECT_THAT(error({.label = "y", .increasing = {"income"}, .decreasing = {"income"}}),
              HasSubstr("both"));
  EXPECT_THAT(error({.label = "y", .increasing = {"region"}}),
              HasSubstr("category without an order"));
  EXPECT_THAT(error({.label = "y", .increasing = {"y"}}), HasSubstr("is the label"));
  EXPECT_EQ(features_of(text, {.label = "y", .decreasing = {"income"}})[0].monotonicity,
            Monotonicity::decreasing);
}

TEST(Features, OrdersMustBeWellFormedAndComplete) {
  const char* text = "y,size\n0,S\n1,L\n0,M\n";
  const auto error = [&](const std::string& order) {
    return error_of([&] { features_of(text, {.label = "y", .order = {order}}); });
  };
  EXPECT_THAT(error("size"), HasSubstr("wanted column=low<...<high"));
  EXPECT_THAT(error("size=S<S"), HasSubstr("different words"));
  EXPECT_THAT(error("size=S"), HasSubstr("two or more"));
  EXPECT_THAT(error("size=S<M"), HasSubstr("row 2: 'L' is not in its order S<M"));
  const auto features =
      features_of(text, {.label = "y", .increasing = {"size"}, .order = {"size=S<M<L"}});
  EXPECT_EQ(features[0].kind, FeatureKind::ordered);
  EXPECT_THAT(features[0].words, ElementsAre("S", "M", "L"));
}

TEST(Keypoints, SitAtDistinctValuesQuantilesOrUniformly) {
  const char* text = "x,y\n1,0\n1,1\n1,0\n1,1\n2,0\n4,1\n9,0\n";
  EXPECT_THAT(keypoints_of(text, {.mode = Keypoints::distinct, .count = 10}),
              ElementsAre(1, 2, 4, 9));
  EXPECT_THAT(keypoints_of(text, {.mode = Keypoints::distinct, .count = 3}), ElementsAre(1, 4, 9));
  EXPECT_THAT(keypoints_of(text, {.mode = Keypoints::quantile, .count = 3}), ElementsAre(1, 9));
  EXPECT_THAT(keypoints_of(text, {.mode = Keypoints::quantile, .count = 4}),
              ElementsAre(1, 2, 4, 9));
  EXPECT_THAT(keypoints_of(text, {.mode = Keypoints::uniform, .count = 5}),
              ElementsAre(1, 3, 5, 7, 9));
  EXPECT_THAT(keypoints_of(text, {.count = 3, .range = Range{-100, 100}}),
              ElementsAre(-100, 0, 100));
}

TEST(Keypoints, AContinuousColumnMayHaveFewerThanOneOfAtoms) {
  const char* text = "x,y\n1,0\n2,1\n3,0\n4,1\n5,0\n";
  for (const Keypoints mode : {Keypoints::distinct, Keypoints::quantile}) {
    EXPECT_THAT(keypoints_of(text, {.mode = mode, .count = 4, .continuous_count = 3}),
                ElementsAre(1, 3, 5));
  }
  EXPECT_THAT(keypoints_of(text, {.count = 5, .continuous_count = 3}), ElementsAre(1, 2, 3, 4, 5));
}

TEST(Keypoints, InfinitiesAreClippedNotKeypoints) {
  EXPECT_THAT(keypoints_of("x,y\ninf,0\n1,1\n-inf,0\n3,1\n", {.count = 10}), ElementsAre(1, 3));
}

TEST(Label, OffsetAndScaleFollowTheTrainingRows) {
  Dataset data{.num_rows = 4, .labels = {1, 1, 1, 0}};
  Label label{.task = Task::classification};
  fit_label(data, label);
  EXPECT_NEAR(label.offset, std::log(3.0), 1e-6);
  EXPECT_EQ(label.scale, 1);
  label = {.task = Task::regression};
  data.labels = {2, 4, 6, 8};
  fit_label(data, label);
  EXPECT_EQ(label.offset, 5);
  EXPECT_NEAR(label.scale, std::sqrt(5.0), 1e-6);
}

// Offset first, then scale: a constant that is added to all labels moves the offset alone.
TEST(Label, AConstantInTheLabelsMovesOnlyTheOffset) {
  for (const double constant : {0.0, 1.0, 1e6, 1e9, -1e15}) {
    Dataset data{.num_rows = 4, .labels = {2, 4, 6, 8}};
    for (double& value : data.labels) value += constant;
    Label label = {.task = Task::regression};
    fit_label(data, label);
    EXPECT_EQ(label.offset, 5 + constant);
    EXPECT_EQ(label.scale, static_cast<float>(std::sqrt(5.0)));
  }
}

TEST(Label, DeviationsThatNoFloatHoldsAreRefused) {
  const Dataset data{.num_rows = 2, .labels = {1e-50, 2e-50}};
  Label label = {.name = "y", .task = Task::regression};
  EXPECT_THAT(error_of([&] { fit_label(data, label); }), HasSubstr("label 'y': its values differ"));
}

}  // namespace
}  // namespace espalier
