// SPDX-License-Identifier: Apache-2.0
#include "model/forest_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "espalier/certificate.h"
#include "espalier/error.h"
#include "espalier/json.h"
#include "espalier/model.h"
#include "model/leaf_orders.h"
#include "model/model_file.h"
#include "support/effort.h"
#include "support/random_forest.h"
#include "support/random_model.h"

namespace espalier {
namespace {

using testing::HasSubstr;

std::string refusal_of(const std::string& bytes) {
  try {
    parse_model(bytes, "m.esp", Inequalities::must_hold);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::format);
    return error.what();
  }
  return "no error";
}

std::string with_checksum(std::string bytes) {
  bytes.resize(bytes.size() - sizeof(std::uint64_t));
  put(bytes, checksum(bytes));
  return bytes;
}

// A network and a tree: x >= 1, behind it the color, and before it whether x is missing.
ModelData model_with_forest() {
  ModelData model;
  model.schema.features = {{.name = "x",
                            .monotonicity = Monotonicity::increasing,
                            .keypoints = {0, 1, 2},
                            .learns_missing = true},
                           {.name = "color",
                            .kind = FeatureKind::category,
                            .categories = {"red", "blue"},
                            .shares = {0.75f, 0.25f}},
                           {.name = "z", .keypoints = {-1, 0, 4}, .typical = 3}};
  model.schema.label = {.name = "y", .offsets = {0}};
  model.training_json = "{}";
  model.members.emplace_back(Network(parse_architecture("cal(2) lin(1)"), input_wires(model.schema),
                                     model.calibrators, Random(1)),
                             0.25f);
  const float infinity = std::numeric_limits<float>::infinity();
  DecisionForest forest;
  forest.sets = {2};  // blue
  forest.trees = {
      {.splits = {{.feature = 0, .threshold = 1, .next = {1, 2}},
                  {.feature = 0, .threshold = -infinity, .next = {~0, ~1}},
                  {.feature = 1, .next = {~2, ~3}}},
       .leaves = {5, -1, 0, 1}},
      {.splits =
           {{.feature = 2, .threshold = 1.99999976f, .missing_right = true, .next = {~0, ~1}}},
       .leaves = {2, -2}},
      {.splits = {}, .leaves = {0.5f}}};
  model.members.emplace_back(std::move(forest), 0.75f);
  return model;
}

TEST(ForestFile, AMixtureIsFormat3AndReadsBackToTheSameBytes) {
  const std::string bytes = format_model(model_with_forest());
  EXPECT_EQ(bytes[8], 3);
  const ModelData read = parse_model(bytes, "m.esp", Inequalities::must_hold);
  EXPECT_EQ(format_model(read), bytes);
  ASSERT_EQ(read.members.size(), 2u);
  EXPECT_EQ(read.members[0].weight, 0.25f);
  EXPECT_EQ(read.members[1].weight, 0.75f);
  EXPECT_EQ(read.members[1].forest(), model_with_forest().members[1].forest());
  // A split takes 8 bytes, a leaf 4, a tree 4 more.
  std::string forest;
  put_forest(forest, read.members[1].forest(), read.schema);
  EXPECT_EQ(forest.size(), 8u + 4 + 8 + 3 * 4 + 4 * 8 + 7 * 4);
}

TEST(ForestFile, EveryBitFlipAndEveryTruncationIsRefused) {
  const std::string bytes = format_model(model_with_forest());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      ASSERT_NE(refusal_of(flipped), "no error") << "byte " << i << ", bit " << bit;
    }
    ASSERT_NE(refusal_of(bytes.substr(0, i)), "no error") << i;
    if (i >= 8) {
      ASSERT_NE(refusal_of(with_checksum(bytes.substr(0, i))), "no error") << i;
    }
  }
}

// What is read of damaged bytes is written again as these bytes, and can be checked.
TEST(ForestFile, WhatIsReadOfDamagedForestsIsWrittenAgain) {
  const ModelData model = model_with_forest();
  std::string bytes;
  put_forest(bytes, model.members[1].forest(), model.schema);
  Random random(3);
  int read = 0;
  for (int i = 0; i < effort(20'000, 2000); ++i) {
    std::string damaged = bytes;
    for (std::uint64_t d = 0; d < 1 + random.below(3); ++d)
      damaged[random.below(damaged.size())] ^= static_cast<char>(1 << random.below(8));
    const std::string place = "m.esp";
    Reader reader(damaged, place, "model");
    try {
      const DecisionForest forest = read_forest(reader, model.schema);
      std::string again;
      put_forest(again, forest, model.schema);
      ASSERT_EQ(again, damaged.substr(0, damaged.size() - reader.left()));
      check_forest(forest, model.schema, [](const std::string&) {});
      evaluate(forest, model.schema, std::vector<float>{0.5f, 1, 2});
      ++read;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::format);
    }
  }
  EXPECT_GT(read, 100);
}

TEST(ForestFile, RandomForestsReadBack) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Random random(seed);
    const Schema schema = random_schema(random);
    const DecisionForest forest = RandomForest(schema, random).draw(1 + random.below(9), 7);
    std::string bytes;
    put_forest(bytes, forest, schema);
    const std::string place = "m.esp";
    Reader reader(bytes, place, "model");
    EXPECT_EQ(read_forest(reader, schema), forest) << "seed " << seed;
    EXPECT_EQ(reader.left(), 0u);
  }
}

// The error when a forest is changed before it is written.
std::string error_with(const std::function<void(DecisionForest&)>& change) {
  ModelData model = model_with_forest();
  change(std::get<DecisionForest>(model.members[1].fitted));
  return refusal_of(format_model(model));
}

TEST(ForestFile, AForestThatCannotBeIsRefused) {
  EXPECT_EQ(error_with([](DecisionForest&) {}), "no error");
  const auto split = [](DecisionForest& forest, std::size_t tree, std::size_t s) -> DecisionSplit& {
    return forest.trees[tree].splits[s];
  };
  const std::pair<std::function<void(DecisionForest&)>, const char*> cases[] = {
      {[&](auto& f) { split(f, 0, 0).feature = 9; }, "tree 1 of a forest: no feature 9"},
      {[&](auto& f) { split(f, 0, 0).feature = 3; }, "no feature 3"},  // there is no level
      {[&](auto& f) { split(f, 0, 0).threshold = 0; }, "'x' that divides no encoded values"},
      {[&](auto& f) { split(f, 0, 0).threshold = 3; }, "divides no encoded values"},
      {[&](auto& f) { split(f, 0, 0).threshold = INFINITY; }, "divides no encoded values"},
      {[&](auto& f) { split(f, 0, 0).threshold = NAN; }, "divides no encoded values"},
      {[&](auto& f) { split(f, 1, 0).threshold = 1e-9f; }, "divides no encoded values"},
      {[&](auto& f) { split(f, 0, 2).set = 1; }, "a set of categories that is not there"},
      {[&](auto& f) { split(f, 0, 2).missing_right = true; }, "sends missing values right"},
      {[](auto& f) { f.sets[0] = 8; }, "more categories than there are"},
      {[&](auto& f) { split(f, 1, 0).missing_right = false; },
       "missing values of 'z' do not go where the typical value goes"},
      {[](auto& f) { f.trees.clear(); }, "a forest without trees"},
      {[&](auto& f) { split(f, 0, 2).next[1] = 3; }, "it ends too early"},
      {[&](auto& f) { split(f, 0, 0).next[1] = ~2; }, "splits behind its end"},
      {[](auto& f) { f.trees[0].leaves[1] = NAN; }, "not monotone: member 2: tree 0: leaf 1"},
      {[](auto& f) { f.trees[0].leaves[2] = -2; },
       "not monotone: member 2: tree 0: leaf 1 is -1, above leaf 2, -2"},
      {[](auto& f) { f.trees[2].leaves[0] = 0x1p101f; }, "its output may reach"},
      {[](auto& f) {
         DecisionTree chain;
         for (std::int32_t s = 0; s < 256; ++s)
           chain.splits.push_back({.feature = 2, .threshold = 2, .next = {~s, s + 1}});
         chain.splits.back().next[1] = ~256;
         chain.leaves.resize(257);
         f.trees.push_back(chain);
       },
       "tree 4 of a forest: 257 leaves, at most 256 are allowed"}};
  for (const auto& [change, wanted] : cases) EXPECT_THAT(error_with(change), HasSubstr(wanted));
}

// The error when a member is changed in the header.
std::string error_with_member(std::size_t member, const std::function<void(Json&)>& change) {
  std::string bytes = format_model(model_with_forest());
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data() + 12, 8);
  Json header = Json::parse(bytes.substr(20, size));
  change(header["members"][member]);
  const std::string text = header.dump();
  bytes.replace(20, size, text);
  size = text.size();
  std::memcpy(bytes.data() + 12, &size, 8);
  return refusal_of(with_checksum(bytes));
}

TEST(ForestFile, AMemberThatCannotBeIsRefused) {
  EXPECT_EQ(error_with_member(1, [](Json&) {}), "no error");
  const std::pair<std::function<void(Json&)>, const char*> cases[] = {
      {[](Json& own) { own["weight"] = 0.0; }, "0 is no weight of a member"},
      {[](Json& own) { own["weight"] = -1.0; }, "-1 is no weight"},
      {[](Json& own) { own["weight"] = 0.1; }, "0.1 is no weight"},  // not a float
      {[](Json& own) { own["weight"] = 1e39; }, "is no weight"},
      {[](Json& own) { own.erase("weight"); }, "weight"},
      {[](Json& own) { own["kind"] = "shrub"; }, "'shrub' is no kind of member"},
      {[](Json& own) { own["kind"] = "network"; }, "architecture"}};
  for (const auto& [change, wanted] : cases)
    EXPECT_THAT(error_with_member(1, change), HasSubstr(wanted));
}

TEST(ForestFile, WhatOlderFormatsHoldIsNotFormat3) {
  ModelData model = model_with_forest();
  model.members.pop_back();
  std::string bytes = format_model(model);  // a weight
  EXPECT_EQ(bytes[8], 3);
  model.members[0].weight = 1;
  EXPECT_EQ(format_model(model)[8], 1);
  const std::size_t at = bytes.find("0.25,\"");
  bytes.replace(bytes.find("\"weight\":0.25"), 13, "\"weight\":1.00");
  EXPECT_EQ(at, bytes.npos);
  EXPECT_THAT(refusal_of(with_checksum(bytes)), HasSubstr("format 3 for what format 1 holds"));
}

TEST(ForestFile, VerifyNamesABrokenOrder) {
  ModelData model = model_with_forest();
  std::get<DecisionForest>(model.members[1].fitted).trees[0].leaves[2] = -2;
  const Model broken(std::make_shared<const ModelData>(
      parse_model(format_model(model), "m.esp", Inequalities::may_fail)));
  const Certificate certificate = verify(broken);
  EXPECT_FALSE(certificate.holds());
  EXPECT_EQ(certificate.violations, 1u);
  EXPECT_EQ(certificate.leaf_orders, 2u);  // of values that are not missing
  EXPECT_EQ(certificate.layers.back().layer, "forest 1: 3 trees");
  EXPECT_THAT(certificate.culprits,
              testing::ElementsAre("forest 1: tree 0: leaf 1 is -1, above leaf 2, -2"));
}

}  // namespace
}  // namespace espalier
