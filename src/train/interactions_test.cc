// SPDX-License-Identifier: Apache-2.0
#include "train/interactions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;
using Texts = std::vector<std::string>;

const std::vector<Feature> kFeatures = {
    {.name = "lon"}, {.name = "lat"}, {.name = "a*b"},
    {.name = "b"},   {.name = "b:7"}, {.name = "rooms", .monotonicity = Monotonicity::increasing}};

std::string error_for(const Texts& texts) {
  return error_of([&] { read_interactions(texts, kFeatures); });
}

TEST(PairRequests, PairsAreReadAndWrittenTheSame) {
  const std::vector<PairRequest> pairs = {{0, 1, 32}, {1, 0, 2}, {2, 3, 16}, {0, 4, 8}, {0, 1, 64}};
  const Texts texts = write_interactions(pairs, kFeatures);
  EXPECT_EQ(texts[0], "lon*lat:32");
  EXPECT_EQ(texts[3], "lon*b:7:8");
  EXPECT_EQ(read_interactions(texts, kFeatures), pairs);
  EXPECT_FALSE(leaves_interactions_open(texts));
}

TEST(PairRequests, NamesMayHoldStarsAndColons) {
  EXPECT_EQ(read_interactions({"a*b*lon"}, kFeatures), (std::vector<PairRequest>{{2, 0}}));
  EXPECT_EQ(read_interactions({"lon*b:7"}, kFeatures), (std::vector<PairRequest>{{0, 4}}));
}

TEST(PairRequests, AutoAndNoneNameNoPair) {
  for (const char* word : {"auto", "none"})
    EXPECT_TRUE(read_interactions({word}, kFeatures).empty());
  EXPECT_TRUE(read_interactions({}, kFeatures).empty());
  EXPECT_EQ(write_interactions({}, kFeatures), Texts{"none"});
  EXPECT_TRUE(asks_for_interactions({"auto"}));
  EXPECT_FALSE(asks_for_interactions({"none"}));
  for (const Texts& open : {Texts{"auto"}, Texts{"lon*lat"}, Texts{"lon*lat:8", "lon*b"}})
    EXPECT_TRUE(leaves_interactions_open(open));
  for (const Texts& settled : {Texts{"none"}, Texts{}, Texts{"lon*lat:8"}})
    EXPECT_FALSE(leaves_interactions_open(settled));
}

TEST(PairRequests, WhatCannotBeCrossedIsRefusedByName) {
  EXPECT_THAT(error_for({"lon*rooms:65"}),
              HasSubstr("65 bins; wanted 2 to 64 where a column has a direction"));
  EXPECT_THAT(error_for({"lon*latt"}),
              HasSubstr("'latt' is no column that the model reads; did you "
                        "mean 'lat'?"));
  EXPECT_THAT(error_for({"lon*lon"}), HasSubstr("crossed with itself"));
  EXPECT_THAT(error_for({"lon"}), HasSubstr("wanted two columns"));
  EXPECT_THAT(error_for({"auto", "lon*lat"}), HasSubstr("'auto': wanted two columns"));
  EXPECT_THAT(error_for({"lon*lat:1"}), HasSubstr("1 bins; wanted 2 to 1000"));
  EXPECT_THAT(error_for({"lon*lat:99999999999999999999"}), HasSubstr("wanted 2 to 1000"));
  EXPECT_THAT(error_for({"lon*lat:8", "lon*lat:8"}), HasSubstr("it is there twice"));
}

}  // namespace
}  // namespace espalier
