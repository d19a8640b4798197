// SPDX-License-Identifier: Apache-2.0
#include "encode/schema_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encode/encode.h"
#include "espalier/csv.h"
#include "support/error_of.h"

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
  fit_keypoints(plan, table, whole_table(table.num_rows), all_rows(table), features);
  return features[0].keypoints;
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
  EXPECT_THAT(features[0].categories, ElementsAre("NA", "Po", "Ex"));
  EXPECT_THAT(features[0].not_missing, ElementsAre("NA"));
  EXPECT_FALSE(features[0].learns_missing);
}

TEST(Features, WordsThatAreTheSameNumberAreOneWord) {
  const CsvOptions csv = {.types = {{"c", ColumnType::category}}};
  const auto categories = [&](const char* text) {
    const Table table = parse_csv(text, csv);
    return build_features(table, {.label = "y"}, all_rows(table), [](const std::string&) {})[0]
        .categories;
  };
  EXPECT_EQ(categories("y,c\n0,1\n1,2.0\n0,1.0\n1,1.00\n"),
            categories("y,c\n0,1\n1,2\n0,1\n1,1\n"));
  EXPECT_THAT(categories("y,c\n0,007\n1,7\n0,7.0\n"), ElementsAre("7", "007"));
}

TEST(Features, OneValueAndMissingCellsIsInformation) {
  EXPECT_EQ(features_of("y,x\n0,5\n1,\n", {.label = "y"}).size(), 1u);
}

TEST(Features, CategoriesCountMissingAsTheirOwnAndPoolTheRarest) {
  const char* text = "y,c\n0,a\n1,a\n0,a\n1,b\n0,b\n1,\n0,d\n1,e\n";
  auto feature = features_of(text, {.label = "y"})[0];
  EXPECT_THAT(feature.categories, ElementsAre("a", "b", "", "d", "e"));
  EXPECT_FLOAT_EQ(feature.shares[0], 3.0f / 8);
  EXPECT_FALSE(feature.pools_rare);
  feature = features_of(text, {.label = "y", .max_categories = 3})[0];
  EXPECT_THAT(feature.categories, ElementsAre("a", "b", "(rare)"));
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
  EXPECT_THAT(features[0].categories, ElementsAre("S", "M", "L"));
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

}  // namespace
}  // namespace espalier
