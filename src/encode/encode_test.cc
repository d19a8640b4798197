// SPDX-License-Identifier: Apache-2.0
#include "encode/encode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "encode/roles.h"
#include "espalier/csv.h"
#include "support/error_of.h"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();

Feature number_feature(Monotonicity monotonicity = Monotonicity::none) {
  return {.name = "x", .monotonicity = monotonicity, .keypoints = {0, 1, 10}, .typical = 1};
}

TEST(Encode, PositionsRunFromKeypointToKeypointAndAreClipped) {
  const Feature feature = number_feature();
  EXPECT_EQ(encode_number(feature, 0), 0);
  EXPECT_EQ(encode_number(feature, 0.5f), 0.5f);
  EXPECT_EQ(encode_number(feature, 1), 1);
  EXPECT_EQ(encode_number(feature, 5.5f), 1.5f);
  EXPECT_EQ(encode_number(feature, 10), 2);
  EXPECT_EQ(encode_number(feature, kInf), 2);
  EXPECT_EQ(encode_number(feature, -kInf), 0);
}

TEST(Encode, DecreasingFeaturesCountFromTheOtherEnd) {
  const Feature feature = number_feature(Monotonicity::decreasing);
  EXPECT_EQ(encode_number(feature, 0), 2);
  EXPECT_EQ(encode_number(feature, 5.5f), 0.5f);
  EXPECT_EQ(encode_number(feature, kInf), 0);
}

TEST(Encode, AMissingNumberIsLearnedOrTypical) {
  Feature feature = number_feature();
  EXPECT_EQ(encode_number(feature, NAN), 1);
  feature.learns_missing = true;
  EXPECT_EQ(encode_number(feature, NAN), kMissingPosition);
}

TEST(Encode, AdjacentFloatsNeverChangeOrder) {
  Feature feature = number_feature();
  feature.keypoints = {-3.7f, 0.1f, 0.1000001f, 2.3f, 1e6f};
  for (float x = -4; x < 3; x += 0.0137f) {
    float previous = encode_number(feature, x);
    float next = x;
    for (int i = 0; i < 200; ++i) {
      next = std::nextafter(next, kInf);
      const float position = encode_number(feature, next);
      ASSERT_LE(previous, position) << next;
      previous = position;
    }
  }
}

TEST(Encode, CategoriesAreIndicesAndUnseenOnesComeLast) {
  const Schema schema = {.features = {{.name = "c",
                                       .kind = FeatureKind::category,
                                       .categories = {"a", "", "b"},
                                       .shares = {1, 1, 1}}}};
  const Table table = parse_csv("c,d\nb,1\na,1\n,1\nzebra,1\n");
  EXPECT_THAT(encode_features(schema, table, all_rows(table)).cells, ElementsAre(2, 0, 1, 3));
}

TEST(Encode, UnseenWordsJoinTheRareOnesWhereThereAreSome) {
  const Schema schema = {.features = {{.name = "c",
                                       .kind = FeatureKind::category,
                                       .categories = {"a", "(rare)"},
                                       .shares = {1, 1},
                                       .pools_rare = true}}};
  const Table table = parse_csv("c,d\na,1\nzebra,1\n(rare),1\n");
  EXPECT_THAT(encode_features(schema, table, all_rows(table)).cells, ElementsAre(0, 1, 1));
}

TEST(Encode, OrderedWordsAreNumbersAndUnknownOnesMissing) {
  const Schema schema = {.features = {{.name = "size",
                                       .kind = FeatureKind::ordered,
                                       .monotonicity = Monotonicity::decreasing,
                                       .keypoints = {0, 1, 2},
                                       .learns_missing = true,
                                       .categories = {"S", "M", "L"}}}};
  const Table table = parse_csv("size,d\nS,1\nL,1\nXXL,1\n,1\n");
  EXPECT_THAT(encode_features(schema, table, all_rows(table)).cells, ElementsAre(2, 0, -1, -1));
}

TEST(Encode, NamesAbsentColumnsAndColumnsOfAnotherType) {
  const Schema schema = {.features = {number_feature()}};
  const auto encode_text = [&](const char* text) {
    const Table table = parse_csv(text, {}, "t.csv");
    encode_features(schema, table, all_rows(table));
  };
  EXPECT_THAT(error_of([&] { encode_text("xx,y\n1,2\n"); }),
              HasSubstr("t.csv: no column 'x'; did you mean 'xx'?"));
  EXPECT_THAT(error_of([&] { encode_text("x,y\nred,2\n"); }),
              HasSubstr("column 'x': has words such as 'red'"));
}

TEST(Encode, AWordIsFoundHoweverItsNumberIsWritten) {
  const Feature known{
      .name = "c", .kind = FeatureKind::category, .categories = {"1", "2.50", "1.0", ""}};
  const FeatureCategories categories(known);
  EXPECT_EQ(categories.find("1"), 0u);
  EXPECT_EQ(categories.find("1.0"), 2u) << "a word of its own in an old model";
  EXPECT_EQ(categories.find("1.00"), 0u);
  EXPECT_EQ(categories.find("2.5"), 1u);
  EXPECT_EQ(categories.find(""), 3u);
  EXPECT_EQ(categories.find("01"), std::nullopt);
}

TEST(Encode, FreeingTheTableChangesNothing) {
  std::string text = "x,word,y,w\n";
  for (int i = 0; i < 100; ++i) {
    text += std::to_string(i % 13) + (i % 3 == 0 ? ",a," : ",b,") + std::to_string(i) + ",1\n";
  }
  Table table = parse_csv(text);
  Schema schema;
  schema.features = {number_feature(),
                     {.name = "word", .kind = FeatureKind::category, .categories = {"b", "a"}}};
  schema.label = {.name = "y", .is_number = true};
  schema.beside[Role::weight] = "w";
  std::vector<Rows> parts(3);  // the last has no rows
  for (std::uint64_t row = 0; row < 100; ++row) {
    if (row < 40 || row > 70) parts[row % 7 == 0].push_back(row);
  }
  const Table kept = table;
  const std::vector<Dataset> encoded = encode_and_free(schema, std::move(table), whole_table(100),
                                                       {&parts[0], &parts[1], &parts[2]});
  for (std::size_t p = 0; p < parts.size(); ++p) {
    Dataset wanted = encode_features(schema, kept, parts[p]);
    encode_beside(schema.beside, kept, parts[p], wanted);
    EXPECT_EQ(encoded[p].num_rows, wanted.num_rows);
    EXPECT_EQ(encoded[p].num_features, wanted.num_features);
    EXPECT_EQ(encoded[p].cells, wanted.cells);
    EXPECT_EQ(encoded[p].weights(), wanted.weights());
  }
}

}  // namespace
}  // namespace espalier
