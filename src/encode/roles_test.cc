// SPDX-License-Identifier: Apache-2.0
#include "encode/roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "encode/encode.h"
#include "encode/schema_builder.h"
#include "espalier/csv.h"
#include "support/error_of.h"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Roles, WeightsAreFiniteAndNotNegative) {
  const auto weights = [](const char* text) {
    const Table table = parse_csv(text, {}, "t.csv");
    return encode_side_column(Role::weight, "w", table, all_rows(table));
  };
  EXPECT_THAT(weights("w,d\n1,1\n0,1\n2.5,1\n"), ElementsAre(1, 0, 2.5f));
  EXPECT_THAT(error_of([&] { weights("w,d\n1,1\n-2,1\n"); }), HasSubstr("row 2: -2 is no weight"));
  EXPECT_THAT(error_of([&] { weights("w,d\n1,1\n,1\n"); }), HasSubstr("row 2: nan is no weight"));
  EXPECT_THAT(error_of([&] { weights("w,d\n0,1\n0,1\n"); }), HasSubstr("all weights are 0"));
}

TEST(Roles, AColumnBesideTheFeaturesIsNone) {
  const Table table = parse_csv("y,w,x\n0,1,1\n1,2,2\n");
  const TrainOptions options = {.label = "y", .weight = "w"};
  EXPECT_EQ(role_of("y", options), Role::label);
  EXPECT_EQ(role_of("w", options), Role::weight);
  EXPECT_EQ(role_of("x", options), Role::feature);
  const std::vector<Feature> features =
      build_features(table, options, all_rows(table), [](const std::string&) {});
  ASSERT_EQ(features.size(), 1u);
  EXPECT_EQ(features[0].name, "x");
}

TEST(Roles, NoColumnHasTwo) {
  const TrainOptions options = {.label = "y", .weight = "y"};
  EXPECT_THAT(error_of([&] { side_columns(options); }), HasSubstr("weight: 'y' is the label"));
}

}  // namespace
}  // namespace espalier
