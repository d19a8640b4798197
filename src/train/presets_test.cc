// SPDX-License-Identifier: Apache-2.0
#include "train/presets.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/network.h"
#include "support/error_of.h"
#include "support/schema_rows.h"
#include "train/settled_options.h"

namespace espalier {
namespace {

using testing::Each;
using testing::ElementsAre;

std::vector<Feature> features(int count, int monotone) {
  std::vector<Feature> made;
  for (int f = 0; f < count; ++f) {
    made.push_back({.name = "x" + std::to_string(f),
                    .monotonicity = f < monotone ? Monotonicity::increasing : Monotonicity::none});
  }
  return made;
}

TrainOptions resolved(TrainOptions options, std::size_t rows = 100000, int count = 10,
                      int monotone = 4) {
  return *settle(std::move(options), {}, features(count, monotone), rows);
}

// Parameters of a network over number columns, every calibrator of the table with its full count.
std::size_t parameters(const std::string& preset, int count, int monotone) {
  Architecture architecture =
      parse_architecture(resolved({.architecture = preset}, 100000, count, monotone).architecture);
  for (LayerSpec& layer : architecture.layers) layer.wiring = Wiring::random;
  std::vector<Wire> wires;
  const auto calibrators = input_calibrators(architecture);
  for (int f = 0; f < count; ++f)
    wires.push_back(
        {.monotone = f < monotone, .keypoints = calibrators ? calibrators->keypoints : 2});
  return Network(architecture, wires, MonotoneCalibrators::required, Random(1)).params().size();
}

// The counts that the paper prints; its notes exclude Adult's DLN and the two monotonic DNNs.
TEST(Presets, HaveThePapersParameterCounts) {
  // Its crystals have 10 keypoints; ours as many as the rows feed.
  const auto crystals = [](const std::string& size) {
    const std::string layers =
        resolved({.architecture = fmt::format("crystals({})", size)}).architecture;
    const std::size_t at = layers.find("cal(150)");
    return layers.substr(0, at) + "cal(10)" + layers.substr(at + 8);
  };
  EXPECT_EQ(parameters("dln-paper(30x5)", 49, 19), 27903u);
  EXPECT_EQ(parameters("dln-paper(1x10)", 49, 19), 7303u);
  EXPECT_EQ(parameters("dln-paper(50x9)", 10, 10), 81601u);
  EXPECT_EQ(parameters("dln-paper(50x9)", 9, 9), 81051u);
  EXPECT_EQ(parameters(crystals("80x7"), 49, 19), 15840u);
  EXPECT_EQ(parameters(crystals("60x4"), 90, 4), 3360u);
  EXPECT_EQ(parameters(crystals("10x7"), 10, 10), 1980u);
  EXPECT_EQ(parameters(crystals("80x6"), 9, 9), 9920u);
  EXPECT_EQ(parameters("min-max(90x7)", 49, 19), 31500u);
  EXPECT_EQ(parameters("min-max(70x9)", 90, 4), 57330u);
  EXPECT_EQ(parameters("min-max(100x5)", 10, 10), 5500u);
  EXPECT_EQ(parameters("min-max(70x6)", 9, 9), 4200u);
}

// G hidden layers of S units: 10 S + S, then S S + S each, then S + 1.
TEST(Presets, AMonotonicDnnHasGLayersOfSUnits) {
  EXPECT_EQ(parameters("monotonic-dnn(1x1000)", 9, 9), 9u * 1000 + 1000 + 1001);
  EXPECT_EQ(parameters("monotonic-dnn(20x100)", 10, 10), 1100u + 19 * 10100 + 101);
}

TEST(Presets, SayWhichSizesTheyTake) {
  const auto message = [](const std::string& preset) {
    return error_of([&] { resolved({.architecture = preset}); });
  };
  EXPECT_EQ(message("calibrated-linear(3x4)"),
            "architecture: 'calibrated-linear(3x4)': wanted calibrated-linear");
  const std::string sizes =
      "wanted min-max or min-max(GxS), G and S whole numbers from 1, G S at most 16777216";
  for (const char* bad : {"min-max(3", "min-max(3x2) lin(1)", "min-max(0x3)", "min-max(3)",
                          "min-max(100000x100000)"}) {
    EXPECT_EQ(message(bad), fmt::format("architecture: '{}': {}", bad, sizes));
  }
  EXPECT_EQ(message("dln-one-lattice(3x4)"),
            "architecture: 'dln-one-lattice(3x4)': wanted one lattice: dln-one-lattice(1xS)");
  EXPECT_EQ(message("monotonic-dnn(100000x1)"),
            "architecture: 'monotonic-dnn(100000x1)': at most 1000 layers are allowed");
}

TEST(Presets, AMisspeltNameIsAnsweredWithTheNearest) {
  const std::string message = error_of([] { resolved({.architecture = "dnl"}); });
  const std::string wanted =
      "architecture: 'dnl': no layer or preset of that name, did you mean 'dln'?; presets are dln,";
  EXPECT_EQ(message.substr(0, wanted.size()), wanted);
}

TEST(Presets, HaveTheSizesThatTheGuideNames) {
  // cal + lin + cal + lat + cal + lin: 10 columns of 150 keypoints; 4 of 10 outputs are monotone,
  // and those read 10 columns, the others 6.
  const std::size_t embedding = 140 * 10 + 210 * 6 + 350;
  EXPECT_EQ(parameters("dln(70x5)", 10, 4), 1500 + embedding + 7000 + 2240 + 1400 + 71u);
  EXPECT_EQ(parameters("dln", 10, 4), 1500 + (32 * 10 + 48 * 6 + 80) + 1600 + 320 + 400 + 21u);
  EXPECT_EQ(parameters("dln-lattice", 10, 4),
            1500 + (16 * 10 + 24 * 6 + 40) + 800 + 256 + 160 + 256u);
  EXPECT_EQ(parameters("dln-one-lattice", 10, 4), 1500 + (3 * 10 + 5 * 6 + 8) + 160 + 256u);
  EXPECT_EQ(parameters("calibrated-linear", 10, 4), 1500 + 11u);
  EXPECT_EQ(parameters("calibrated-lattice", 10, 4), 1500 + 1024u);
  EXPECT_EQ(parameters("random-lattices", 10, 4), 1500 + 2240 + 71u);
}

TEST(Presets, ThePapersRecipeLeavesWhatWasSetAlone) {
  const TrainOptions paper = resolved({.architecture = "dln-paper"});
  EXPECT_EQ(paper.projection, Projection::admm);
  EXPECT_EQ(paper.initialization, Initialization::paper);
  EXPECT_EQ(paper.schedule, Schedule::constant);
  EXPECT_EQ(paper.weight_decay, 0);
  EXPECT_EQ(paper.adam_epsilon, 1e-8);
  EXPECT_EQ(paper.keypoints, Keypoints::uniform);
  EXPECT_EQ(paper.learning_rate, 0.003);
  EXPECT_EQ(paper.epochs, 25);
  EXPECT_EQ(resolved({.architecture = "dln-paper"}, 500).learning_rate, 0.003);
  const TrainOptions changed = resolved({.architecture = "dln-paper",
                                         .keypoints = Keypoints::distinct,
                                         .initialization = Initialization::data,
                                         .adam_epsilon = 1e-4,
                                         .schedule = Schedule::cosine,
                                         .weight_decay = 0.1,
                                         .projection = Projection::sweep});
  EXPECT_EQ(changed.projection, Projection::sweep);
  EXPECT_EQ(changed.initialization, Initialization::data);
  EXPECT_EQ(changed.schedule, Schedule::cosine);
  EXPECT_EQ(changed.weight_decay, 0.1);
  EXPECT_EQ(changed.adam_epsilon, 1e-4);
  EXPECT_EQ(changed.keypoints, Keypoints::distinct);
}

TEST(Presets, OurRecipeIsThatOfEveryOtherArchitecture) {
  for (const char* text : {"dln", "random-lattices", "cal(20) lin(1)"}) {
    const TrainOptions options = resolved({.architecture = text});
    EXPECT_EQ(options.projection, Projection::sweep) << text;
    EXPECT_EQ(options.schedule, Schedule::cosine) << text;
    EXPECT_EQ(options.weight_decay, 0.3) << text;
    EXPECT_EQ(options.adam_epsilon, 1e-3) << text;
  }
  EXPECT_EQ(resolved({.architecture = "min-max"}).weight_decay, 0);
  EXPECT_EQ(resolved({.architecture = "min-max"}).learning_rate, 0.08);
  EXPECT_EQ(resolved({.architecture = "dln", .weight_decay = 0}).weight_decay, 0);
}

TEST(Presets, OfAMonotonicDnnTheLayersBehindAReluLearnTheSlowerTheLargerTheyAre) {
  const auto scales = [](const std::string& preset) {
    const Architecture architecture =
        parse_architecture(resolved({.architecture = preset}).architecture);
    const Network network(architecture, std::vector<Wire>(10), MonotoneCalibrators::required,
                          Random(1));
    std::vector<float> found;
    for (int l = 0; l < network.num_layers(); ++l) {
      if (network.architecture().layers[static_cast<std::size_t>(l)].kind == LayerKind::lin)
        found.push_back(network.layer(l).rate_scale());
    }
    return found;
  };
  EXPECT_THAT(scales("monotonic-dnn"), ElementsAre(1, 0.5f, 0.5f));
  EXPECT_THAT(scales("monotonic-dnn(2x10)"), ElementsAre(1, 1, 1));
  EXPECT_THAT(scales("monotonic-dnn(1x1000)"), ElementsAre(1, 0.1f));
  EXPECT_THAT(scales("monotonic-dnn(4x100)"), ElementsAre(1, 0.0625f, 0.0625f, 0.0625f, 0.0625f));
  EXPECT_EQ(scales("monotonic-dnn(20x100)").back(), 0.0025f);
  EXPECT_THAT(scales("dln(3x2)"), Each(1));
  for (const std::size_t rows : {500, 100000})
    EXPECT_EQ(resolved({.architecture = "monotonic-dnn(20x100)"}, rows).learning_rate, 0.02);
}

TEST(Presets, TheCalibratedFormIsThePublishedOneBehindCalibrators) {
  for (const char* preset : {"min-max", "monotonic-dnn"}) {
    for (const char* size : {"", "(5x4)"}) {
      const TrainOptions plain = resolved({.architecture = fmt::format("{}{}", preset, size)});
      TrainOptions other = resolved({.architecture = fmt::format("{}-calibrated{}", preset, size)});
      EXPECT_EQ(other.architecture, "cal(150) " + plain.architecture);
      EXPECT_EQ(other.learning_rate, plain.learning_rate);
    }
  }
}

TEST(Presets, EveryRowOfTheEmbeddingReadsSomething) {
  for (const auto& [monotone, embedding] : {std::pair(0, "lin(20)"),
                                            {1, "lin(20,monotone=6)"},
                                            {9, "lin(20,monotone=14)"},
                                            {10, "lin(20,monotone=20)"}}) {
    EXPECT_THAT(resolved({.architecture = "dln(5x4)"}, 100000, 10, monotone).architecture,
                testing::HasSubstr(embedding));
  }
}

TEST(Presets, SmallTablesGetFiveNetworks) {
  const auto networks = [](std::size_t rows, TrainOptions options) {
    return resolved(std::move(options), rows, 0, 0).ensemble;
  };
  EXPECT_EQ(networks(4999, {}), 5);
  EXPECT_EQ(networks(5000, {}), 1);
  EXPECT_EQ(networks(100, {.ensemble = 3}), 3);
  EXPECT_EQ(networks(100, {.architecture = "dln-paper"}), 1);
  EXPECT_EQ(networks(100, {.architecture = "cal(20) lin(1)"}), 1);
}

}  // namespace
}  // namespace espalier
