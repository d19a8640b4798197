// SPDX-License-Identifier: Apache-2.0
#include "espalier/architecture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "espalier/error.h"
#include "model/network.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

std::vector<Wire> number_wires(int count, int monotone, int keypoints = 100) {
  std::vector<Wire> wires;
  for (int i = 0; i < count; ++i)
    wires.push_back({.monotone = i < monotone, .keypoints = keypoints});
  return wires;
}

Network build(const std::string& text, std::vector<Wire> wires, std::uint64_t seed = 1,
              const BuildLimits& limits = {}) {
  return Network(parse_architecture(text), std::move(wires), MonotoneCalibrators::required,
                 Random(seed), limits);
}

std::string error_of(const std::string& text, std::vector<Wire> wires,
                     const BuildLimits& limits = {}) {
  try {
    build(text, std::move(wires), 1, limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::argument);
    return error.what();
  }
  return "no error";
}

TEST(Architecture, WritesWhatItReads) {
  for (const char* text : {"cal(100) lin(350) cal(100) lat(70x5) cal(100) lin(1)",
                           "cal(20,-100:100) lin(10,split,monotone=3) lat(2x5,simplex)",
                           "cal gather(3x2) lat(3x2) sum", "gather(0,3,1) cal(5) lat",
                           "cal(10,0.5:2.25) lin(1)", "cal(4) tree(3>0.25,_,1>0.1,_,_,_) sum"}) {
    EXPECT_EQ(to_string(parse_architecture(text)), text);
  }
}

TEST(Architecture, NamesTheLayerThatCannotBeRead) {
  const auto message = [](const char* text) {
    try {
      parse_architecture(text);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message("cal(20) latt(3x2)"), HasSubstr("did you mean 'lat'"));
  EXPECT_THAT(message(""), HasSubstr("no layers"));
  EXPECT_THAT(message("cal(20"), HasSubstr("not closed"));
  EXPECT_THAT(message("cal(1)"), HasSubstr("whole number from 2"));
  EXPECT_THAT(message("cal(20,5:1)"), HasSubstr("not a range"));
  EXPECT_THAT(message("tree"), HasSubstr("not complete: 1 more wanted"));
  EXPECT_THAT(message("tree(3>0.25,_)"), HasSubstr("not complete: 1 more wanted"));
  EXPECT_THAT(message("tree(_,3>1,2>1,_)"), HasSubstr("not complete: 2 more wanted"));
  EXPECT_THAT(message("tree(3,_,_)"), HasSubstr("neither a question such as 3>0.25 nor a leaf"));
  EXPECT_THAT(message("tree(-1>2,_,_)"), HasSubstr("whole number from 0"));
  EXPECT_THAT(message("tree(3>inf,_,_)"), HasSubstr("does not compare with a number"));
  EXPECT_THAT(message("cal(20,nan:1)"), HasSubstr("not a range"));
  EXPECT_THAT(message("cal(20,1)"), HasSubstr("not a range"));
  EXPECT_THAT(message("lin(-3)"), HasSubstr("whole number"));
  EXPECT_THAT(message("lin(3,monotone=4)"), HasSubstr("4 monotone outputs of 3"));
  EXPECT_THAT(message("lat(3)"), HasSubstr("wanted lat(GxS)"));
  EXPECT_THAT(message("lat(99999999999x5)"), HasSubstr("whole number"));
  EXPECT_THAT(message("sum(3)"), HasSubstr("takes no size"));
  EXPECT_THAT(message("relu(3)"), HasSubstr("relu takes no size"));
  EXPECT_THAT(message("minmax"), HasSubstr("wanted minmax(GxS)"));
  EXPECT_THAT(message("gather(3x2,best)"), HasSubstr("wanted gather(GxS), gather(GxS,crystals)"));
}

// The counts that the paper prints, and that reveal its models.
TEST(Architecture, HasThePapersParameterCounts) {
  const auto count = [](const std::string& text, int inputs, int monotone) {
    return build(text, number_wires(inputs, monotone)).params().size();
  };
  EXPECT_EQ(count("cal(100) lin(150,split) cal(100) lat(30x5) cal(100) lin(1)", 49, 19), 27903u);
  EXPECT_EQ(count("cal(100) lin(50,split) cal(100) lat(5x10) cal(100) lat", 49, 19), 16893u);
  EXPECT_EQ(count("cal(100) lin(10,split) cal(100) lat(1x10) cal(100) lin(1)", 49, 19), 7303u);
  EXPECT_EQ(count("cal(100) lin(450,split) cal(100) lat(50x9) cal(100) lin(1)", 10, 10), 81601u);
  EXPECT_EQ(count("cal(100) lin(450,split) cal(100) lat(50x9) cal(100) lin(1)", 9, 9), 81051u);
}

TEST(Architecture, FillsInSizesThatFollowFromTheNeighbours) {
  const Network network = build("cal lin cal lat(4x3) cal lin", number_wires(5, 2));
  EXPECT_EQ(network.layer(1).num_outputs(), 12);
  EXPECT_EQ(network.layer(network.num_layers() - 1).num_outputs(), 1);
  EXPECT_EQ(build("cal lat", number_wires(5, 2)).layer(1).num_params(), 32u);
}

TEST(Architecture, ASeededPermutationComesBeforeLattices) {
  const auto wiring = [](std::uint64_t seed) {
    return to_string(
        build("cal lin(12) cal lat(4x3) lin(1)", number_wires(5, 2), seed).architecture());
  };
  EXPECT_THAT(wiring(1), HasSubstr("gather("));
  EXPECT_EQ(wiring(1), wiring(1));
  EXPECT_NE(wiring(1), wiring(2));
}

TEST(Architecture, BuildsItselfAgainFromWhatItWrites) {
  const Network first =
      build("cal lin(12) cal gather(6x3) lat(6x3) cal lin(1)", number_wires(5, 2), 7);
  const Network again = build(to_string(first.architecture()), number_wires(5, 2), 99);
  EXPECT_EQ(to_string(first.architecture()), to_string(again.architecture()));
  EXPECT_EQ(first.params().size(), again.params().size());
}

TEST(Architecture, GatherGivesEachGroupDifferentWiresAndUsesAll) {
  const Network network = build("cal gather(7x3) lat(7x3) lin(1)", number_wires(8, 2));
  const std::vector<int>& wires = network.architecture().layers[1].wires;
  ASSERT_EQ(wires.size(), 21u);
  std::vector<int> uses(8, 0);
  for (std::size_t g = 0; g < 7; ++g) {
    const int a = wires[3 * g], b = wires[3 * g + 1], c = wires[3 * g + 2];
    EXPECT_TRUE(a != b && b != c && a != c);
    for (const int wire : {a, b, c}) ++uses[static_cast<std::size_t>(wire)];
  }
  for (const int count : uses)
    EXPECT_THAT(count, ::testing::AllOf(::testing::Ge(2), ::testing::Le(3)));
}

TEST(Architecture, RefusesWhatCannotBeBuiltBeforeAllocatingIt) {
  EXPECT_THAT(error_of("cal lat", number_wires(60, 1)),
              HasSubstr("a lattice of 60 inputs has 2^60 parameters"));
  EXPECT_THAT(error_of("cal lin(16000000) cal(1000) lin(1)", number_wires(60, 1)),
              HasSubstr("parameters"));
  EXPECT_THAT(error_of("cal lat(2x3)", number_wires(5, 1)),
              HasSubstr("reads 6 wires, but 5 arrive"));
  EXPECT_THAT(error_of("cal lin(3)", number_wires(5, 1)), HasSubstr("gives 3 wires, wanted one"));
  EXPECT_THAT(error_of("cal lin cal sum", number_wires(5, 1)), HasSubstr("how many outputs"));
  EXPECT_THAT(error_of("cal gather(2x6) lat(2x6) lin(1)", number_wires(5, 1)),
              HasSubstr("groups of 6"));
  EXPECT_THAT(error_of("gather(0,5) cal lin(1)", number_wires(5, 1)), HasSubstr("no wire 5"));
  EXPECT_THAT(error_of("lat lin(1)", {Wire{.shares = {1, 1}}}), HasSubstr("category"));
  EXPECT_THAT(error_of("tree(0>1,_,_)", {Wire{.shares = {1, 1}}}), HasSubstr("category"));
  EXPECT_THAT(error_of("tree(5>1,_,_)", number_wires(5, 1)), HasSubstr("no wire 5"));
  std::string tree = "_";
  for (int leaves = 1; leaves <= 256; ++leaves) tree = "0>1,_," + tree;
  EXPECT_THAT(error_of("tree(" + tree + ")", number_wires(5, 1)),
              HasSubstr("a tree has 257 leaves, at most 256 are allowed"));
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Architecture, CountsTheMemoryOfAllLayersBeforeAllocatingIt) {
  std::string tree = "_";
  for (int leaves = 1; leaves < 64; ++leaves) tree = "0>1,_," + tree;
  for (const std::string& text :
       {"cal " + repeated("relu ", 30) + "sum", "cal gather(" + repeated("0,", 60) + "0) sum",
        repeated("tree(" + tree + ") ", 4), std::string("cal lin(60) relu lin(1)")}) {
    const std::uint64_t memory = build(text, number_wires(5, 1)).build_memory();
    EXPECT_EQ(error_of(text, number_wires(5, 1), {.memory = memory}), "no error");
    EXPECT_THAT(error_of(text, number_wires(5, 1), {.memory = memory - 1}),
                HasSubstr("the layers, wires and orders between leaves would take"));
  }
}

TEST(Architecture, DrawsNoMoreWiresThanParametersAreAllowed) {
  const auto build_small = [](const char* text) {
    try {
      Network(parse_architecture(text), number_wires(5, 1), MonotoneCalibrators::required,
              Random(1), {.parameters = 1000});
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(build_small("gather(3000000x5) sum"), HasSubstr("15000000 wires, at most 1000"));
  EXPECT_EQ(build_small("gather(200x5) sum"), "no error");
}

TEST(Architecture, NumbersAreWholeAndFit) {
  const std::vector<Wire> wires = number_wires(2, 1);
  for (const char* size :
       {"99999999999999999999", "16777217", "-3", "+3", "0x3", "3.0", "3 3", "", "1e1", "1"}) {
    EXPECT_THAT(error_of("cal(" + std::string(size) + ") lin(1)", wires), HasSubstr("whole number"))
        << size;
  }
  EXPECT_EQ(to_string(parse_architecture("cal(007)")), "cal(7)");
  for (const char* range :
       {"nan:1", "0:inf", "-3e38:3e38", "0:1e39", "1:1", "1:0", "0", "0:", ":1"}) {
    EXPECT_THAT(error_of("cal(3," + std::string(range) + ") lin(1)", wires), HasSubstr("range"))
        << range;
  }
  EXPECT_THAT(error_of("cal(3,0:1e-45) lin(1)", wires), HasSubstr("has the range 0:1e-45"));
}

TEST(Architecture, CopiesOfACategoryShareItsNumbers) {
  const Wire category = {.shares = std::vector<float>(1000, 1.0f)};
  const BuiltLayers built =
      build_layers(parse_architecture("gather(0,0,0) gather(1,1) gather(0) cal(2) sum"), {category},
                   MonotoneCalibrators::required, Random(1));
  const auto numbers = [](const Wire& wire) {
    return static_cast<const std::vector<float>&>(wire.shares).data();
  };
  EXPECT_EQ(numbers(built.layers[2]->outputs()[0]), numbers(category));
}

TEST(Architecture, CategoriesAreLookedUpByLinAndCalibratedBeforeLat) {
  std::vector<Wire> wires = number_wires(2, 1, 10);
  wires.push_back({.shares = {0.5f, 0.3f, 0.2f}});
  // 2 * 10 keypoints; 3 columns of 4 weights for the category, whose calibrators fold into them.
  const Network looked_up = build("cal(10) lin(4,split) cal(5) lat(2x2) lin(1)", wires);
  EXPECT_EQ(looked_up.layer(0).num_params(), 20u);
  EXPECT_EQ(looked_up.layer(1).num_params(), 1u * 1 + 3u * (1 + 3) + 4);
  const Network calibrated = build("cal(10) lat", wires);
  EXPECT_EQ(calibrated.layer(0).num_params(), 23u);
}

TEST(Architecture, TheNineLayersOfThePapersFigureFit) {
  const Network network =
      build("cal(10) lin(12) cal(10) lat(4x3) cal(10) lat(2x2) cal(10) lat(1x2) cal(10)",
            number_wires(6, 3));
  EXPECT_TRUE(network.layer(network.num_layers() - 1).outputs()[0].monotone);
}

}  // namespace
}  // namespace espalier
