// SPDX-License-Identifier: Apache-2.0
#include "objective/label.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>

#include "encode/encode.h"
#include "espalier/csv.h"
#include "objective/fit_label.h"
#include "support/error_of.h"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Label, TwoValuesMeanClassificationAndMoreNumbersRegression) {
  EXPECT_EQ(build_label(parse_csv("y,x\n0,1\n1,2\n"), {.label = "y"}).task(), Task::classification);
  EXPECT_EQ(build_label(parse_csv("y,x\n0,1\n1,2\n2,2\n"), {.label = "y"}).task(),
            Task::regression);
  EXPECT_EQ(
      build_label(parse_csv("y,x\n0,1\n1,2\n"), {.label = "y", .task = Task::regression}).task(),
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
  RC_ASSERT(label.task() == (values.size() == 2 ? Task::classification : Task::regression));
  // Each cell is the class that it names.
  if (label.task() == Task::regression) return;
  const auto labels = encode_labels(label, table, all_rows(table));
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
  EXPECT_EQ(build_label(parse_csv("y,x\n2,1\n10,2\n"), {.label = "y"}).classes[1], "10");
  EXPECT_EQ(build_label(parse_csv("y,x\nyes,1\nno,2\n"), {.label = "y"}).classes[1], "yes");
  EXPECT_EQ(
      build_label(parse_csv("y,x\nyes,1\nno,2\n"), {.label = "y", .positive = "no"}).classes[1],
      "no");
  EXPECT_EQ(build_label(parse_csv("y,x\n0,1\n1,2\n"), {.label = "y", .positive = "0.0"}).classes[1],
            "0");
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
    EXPECT_EQ(build_label(parse_csv(text), {.label = "y"}).task(), Task::classification) << word;
  }
}

TEST(Label, RefusesWhatCannotBePredicted) {
  const auto error = [](const char* text, const TrainOptions& options) {
    return error_of([&] { build_label(parse_csv(text, {}, "t.csv"), options); });
  };
  EXPECT_THAT(error("y,x\n1,1\n1,2\n", {.label = "y"}),
              HasSubstr("t.csv: label 'y' has one value only, '1'"));
  EXPECT_THAT(error("y,x\na,1\nb,2\nc,2\n", {.label = "y", .task = Task::regression}),
              HasSubstr("wants numbers"));
  EXPECT_THAT(error("y,x\n,1\n,2\n", {.label = "y"}), HasSubstr("missing in every row"));
  EXPECT_THAT(error("y,x\n0,1\n1,2\n", {.label = "z"}), HasSubstr("no column 'z'"));
  EXPECT_THAT(error("y,x\n0,1\n1,2\n", {}), HasSubstr("which column"));
  EXPECT_THAT(error("y,x\n0,1\n1,2\n", {.label = "y", .positive = "7"}),
              HasSubstr("'7' is no value"));
}

TEST(Label, WordsMeanClassesAndNumbersDoIfAsked) {
  const Label words = build_label(parse_csv("y,x\nb,1\na,2\nc,2\n"), {.label = "y"});
  EXPECT_THAT(words.classes, ElementsAre("a", "b", "c"));
  EXPECT_TRUE(words.has_many_classes());
  const Table numbers = parse_csv("y,x\n10,1\n2,2\n3.5,2\n");
  const Label classes = build_label(numbers, {.label = "y", .task = Task::classification});
  EXPECT_THAT(classes.classes, ElementsAre("2", "3.5", "10"));
  EXPECT_THAT(encode_labels(classes, numbers, all_rows(numbers)), ElementsAre(2, 0, 1));
  const Label grades = build_label(numbers, {.label = "y", .grades = "10.0<3.5<2"});
  EXPECT_TRUE(grades.ordered);
  EXPECT_THAT(encode_labels(grades, numbers, all_rows(numbers)), ElementsAre(0, 2, 1));
}

TEST(Label, RefusesOptionsThatContradictEachOther) {
  const auto error = [](const TrainOptions& options, const char* text = "y,x\n1,1\n2,2\n3,3\n") {
    return error_of([&] { build_label(parse_csv(text, {}, "t.csv"), options); });
  };
  EXPECT_THAT(error({.label = "y", .grades = "1<2<3", .loss = Loss::poisson}),
              HasSubstr("grades: does not go with the loss poisson"));
  EXPECT_THAT(error({.label = "y", .task = Task::regression, .loss = Loss::log_loss}),
              HasSubstr("task: regression"));
  EXPECT_THAT(error({.label = "y", .task = Task::classification, .loss = Loss::gamma}),
              HasSubstr("does not go with the loss gamma"));
  EXPECT_THAT(error({.label = "y", .exposure = "x"}), HasSubstr("poisson or tweedie"));
  EXPECT_THAT(error({.label = "y", .exposure = "x", .loss = Loss::gamma}),
              HasSubstr("poisson or tweedie"));
  EXPECT_THAT(error({.label = "y", .loss = Loss::quantile}), HasSubstr("which one"));
  EXPECT_THAT(error({.label = "y", .quantile = {0.5, 0.5}}), HasSubstr("rising order"));
  EXPECT_THAT(error({.label = "y", .quantile = {1}}), HasSubstr("not between 0 and 1"));
  EXPECT_THAT(error({.label = "y", .loss = Loss::tweedie, .power = 1}), HasSubstr("is the loss"));
  EXPECT_THAT(error({.label = "y", .grades = "1<2"}), HasSubstr("3 to 100 different words"));
  EXPECT_THAT(error({.label = "y", .grades = "1<2<2.0"}), HasSubstr("different words"));
  EXPECT_THAT(error({.label = "y", .positive = "a"}, "y,x\na,1\nb,2\nc,3\n"),
              HasSubstr("wanted a label with two values"));
  EXPECT_THAT(error({.label = "y", .offset = "x"}, "y,x\na,1\nb,2\nc,3\n"),
              HasSubstr("it cancels"));
  EXPECT_THAT(error({.label = "y", .loss = Loss::poisson}, "y,x\na,1\nb,2\nc,3\n"),
              HasSubstr("poisson wants numbers"));
}

TEST(Label, LabelsThatTheLossDoesNotAllowAreNamedWithTheirRow) {
  const auto error = [](Loss loss, const char* text) {
    const Table table = parse_csv(text, {}, "t.csv");
    const Label label = build_label(table, {.label = "y", .loss = loss});
    return error_of([&] { encode_labels(label, table, all_rows(table)); });
  };
  EXPECT_EQ(error(Loss::poisson, "y,x\n1,1\n0,1\n-2,2\n"),
            "t.csv: column 'y': row 3: -2 is no label of the loss poisson; wanted 0 or more");
  EXPECT_EQ(error(Loss::gamma, "y,x\n1,1\n0,1\n2,2\n"),
            "t.csv: column 'y': row 2: 0 is no label of the loss gamma; wanted more than 0");
  EXPECT_THAT(error(Loss::tweedie, "y,x\n1,1\n0,1\n-1,2\n"), HasSubstr("row 3"));
}

TEST(Label, OffsetAndScaleFollowTheTrainingRows) {
  Dataset data{.num_rows = 4, .labels = {1, 1, 1, 0}};
  Label label{.loss = Loss::log_loss, .classes = {"no", "yes"}};
  fit_label(data, label);
  EXPECT_NEAR(label.offsets[0], std::log(3.0), 1e-6);
  EXPECT_EQ(label.scale, 1);
  label = {};
  data.labels = {2, 4, 6, 8};
  fit_label(data, label);
  EXPECT_EQ(label.offsets[0], 5);
  EXPECT_NEAR(label.scale, std::sqrt(5.0), 1e-6);
}

// Offset first, then scale: a constant that is added to all labels moves the offset alone.
TEST(Label, AConstantInTheLabelsMovesOnlyTheOffset) {
  for (const double constant : {0.0, 1.0, 1e6, 1e9, -1e15}) {
    Dataset data{.num_rows = 4, .labels = {2, 4, 6, 8}};
    for (double& value : data.labels) value += constant;
    Label label;
    fit_label(data, label);
    EXPECT_EQ(label.offsets[0], 5 + constant);
    EXPECT_EQ(label.scale, static_cast<float>(std::sqrt(5.0)));
  }
}

TEST(Label, DeviationsThatNoFloatHoldsAreRefused) {
  const Dataset data{.num_rows = 2, .labels = {1e-50, 2e-50}};
  Label label = {.name = "y"};
  EXPECT_THAT(error_of([&] { fit_label(data, label); }), HasSubstr("label 'y': its values differ"));
}

TEST(Label, EncodesAsZeroOrOneAndNothingElse) {
  const Label label = {.name = "y", .loss = Loss::log_loss, .classes = {"no", "yes"}};
  const Table table = parse_csv("y,d\nyes,1\n,1\nno,1\n");
  const Rows rows = labelled_rows(label, table);
  EXPECT_THAT(rows, ElementsAre(0, 2));
  EXPECT_THAT(encode_labels(label, table, rows), ElementsAre(1, 0));
  const Table odd = parse_csv("y,d\nyes,1\nmaybe,1\n", {}, "t.csv");
  EXPECT_THAT(error_of([&] { encode_labels(label, odd, all_rows(odd)); }),
              HasSubstr("t.csv: column 'y': row 2: 'maybe' is neither 'no' nor 'yes'"));
}

}  // namespace
}  // namespace espalier
