// SPDX-License-Identifier: Apache-2.0
#include "search/search_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "espalier/simulate.h"
#include "search/shape.h"
#include "support/effort.h"
#include "support/error_of.h"
#include "train/presets.h"
#include "train/problem.h"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t kSpaceRows = 2000;

const Schema& loan_schema() {
  static const Schema schema =
      pose({.table = simulate({.rows = 500})},
           {.label = "default", .increasing = {"debt_ratio", "late_payments"}}, {})
          .schema;
  return schema;
}

SearchSpace space_of(const TrainOptions& base, const TuneOptions& tune,
                     std::vector<std::string> pairs = {}) {
  return SearchSpace(base, tune, kSpaceRows, loan_schema(), Validation::none, std::move(pairs));
}

const Dimension* find(const SearchSpace& space, std::string_view name) {
  const auto found = std::ranges::find(space.dimensions(), name, &Dimension::name);
  return found == space.dimensions().end() ? nullptr : &*found;
}

std::string reshaped(const std::string& layers, const Shape& shape) {
  return to_string(reshape(parse_architecture(layers), shape, 9));
}

TEST(Dimension, ReadsWhatItWrites) {
  for (const char* text : {"learning_rate=0.003:0.1:log", "lattices=20:120", "epochs=7:7",
                           "keypoints=distinct:quantile", "architecture=dln:random-lattices",
                           "architecture=cal(9,-1:1) lin(2,split) lin(1):dln"})
    EXPECT_EQ(to_string(parse_dimension(text)), text);
}

TEST(Dimension, AColonWithinBracketsSeparatesNothing) {
  EXPECT_THAT(parse_dimension("architecture=cal(9,-1:1) lin(1):dln").words,
              ElementsAre("cal(9,-1:1) lin(1)", "dln"));
  EXPECT_THAT(parse_dimension("architecture=dln)(:x").words, ElementsAre("dln)(:x"));
}

TEST(Dimension, DrawsFromTheWidestRange) {
  const Dimension dimension = parse_dimension("calibrator_laplacian=1e-12:1e6:log");
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const double value = draw_from(dimension, random).get<double>();
    EXPECT_TRUE(value >= 1e-12 && value <= 1e6) << value;
  }
}

TEST(Dimension, RefusesBadRangesAndSaysWhy) {
  const std::pair<const char*, const char*> bad[] = {
      {"learning_rate", "wanted name=low:high"},
      {"learning_rat=1:2", "did you mean 'learning_rate'?"},
      {"seed=1:2", "'seed' is no setting that can be searched"},
      {"label=a:b", "'label' is no setting"},
      {"learning_rate=0.1", "'0.1' is no range"},
      {"learning_rate=0.1:0.2:lin", "wanted low:high or low:high:log"},
      {"learning_rate=x:0.1", "'x' is not a number"},
      {"learning_rate=0.1:nan", "'nan' is not a number"},
      {"learning_rate=0.1:0.01", "the range 0.1:0.01 begins above its end"},
      {"calibrator_laplacian=0:0.1:log", "begins above 0, not at 0"},
      {"learning_rate=0.1:11", "11 is not between 1e-12 and 10"},
      {"lattices=1.5:3", "'1.5' is not a whole number"},
      {"lattices=0:3", "0 is not between 1 and 1000000"},
      {"lattice_size=2:30", "30 is not between 1 and 20"},
      {"keypoints=distinct:evenly", "'evenly' is not one of distinct, quantile, uniform"},
      {"architecture=dln:", "'' is not one of the presets"},
      {"learning_rate=0:0.1", "learning_rate: 0 is not between 1e-12 and"},
      {"adam_epsilon=0:0.1", "0 is not between 1e-20 and"},
      {"epochs=0:9", "epochs: 0 is not between 1 and"},
      {"batch_size=0:9", "0 is not between 1 and"},
      {"continuous_keypoints=0:9", "0 is not between 2 and"},
      {"weight_decay=-1:1", "-1 is not between 0 and"},
      {"weight_decay=-0.5:1", "-0.5 is not between 0 and 100"},
      {"schedule=automatic:cosine", "'automatic' is not one of averaged, cosine, constant"},
  };
  for (const auto& [text, message] : bad)
    EXPECT_THAT(error_of([&text = text] { parse_dimension(text); }), HasSubstr(message)) << text;
}

TEST(SearchSpace, DrawsWithinItsRangesAndTheSameForASeed) {
  const TuneOptions tune = {.search = {"learning_rate=0.003:0.1:log", "lattices=20:23",
                                       "weight_decay=0:1", "keypoints=distinct:uniform"}};
  const SearchSpace space = space_of({}, tune), same = space_of({}, tune);
  const SearchSpace other = space_of({.seed = 2}, tune);
  std::set<int> lattices;
  std::set<std::string> keypoints;
  int below_geometric_mean = 0;
  for (int trial = 2; trial < 302; ++trial) {
    const Json settings = space.draw(trial);
    EXPECT_EQ(settings, same.draw(trial));
    EXPECT_NE(settings, other.draw(trial));
    EXPECT_NE(settings, space.draw(trial + 1));
    const double rate = settings.at("learning_rate").get<double>();
    EXPECT_TRUE(rate >= 0.003 && rate <= 0.1) << rate;
    below_geometric_mean += rate < 0.01732;
    lattices.insert(settings.at("lattices").get<int>());
    keypoints.insert(settings.at("keypoints").get<std::string>());
    EXPECT_NO_THROW(validate(*space.options_of(settings)));
  }
  EXPECT_NEAR(below_geometric_mean, 150, 40);
  EXPECT_EQ(lattices, (std::set<int>{20, 21, 22, 23}));
  EXPECT_EQ(keypoints, (std::set<std::string>{"distinct", "uniform"}));
}

TEST(SearchSpace, TrialsOfEveryPresetCanBeBuiltAndDoNotDependOnTheRowsOfAFold) {
  for (const std::string& architecture : preset_names()) {
    const TrainOptions base = {.label = "default", .architecture = architecture};
    const SearchSpace space = space_of(base, {});
    EXPECT_EQ(space.draw(1), Json::object());
    for (int trial = 1; trial < effort(60, 15); ++trial) {
      const TrainOptions options = *space.options_of(space.draw(trial));
      EXPECT_NO_THROW(space_of(options, {})) << options.architecture;
      for (const std::size_t rows : {kSpaceRows, kSpaceRows / 4, 20 * kSpaceRows}) {
        const Schema& schema = loan_schema();
        EXPECT_EQ(to_json(*settle(options, schema.label, schema.features, rows)), to_json(options))
            << architecture;
      }
    }
  }
}

TEST(SearchSpace, DrawsHowManyOfThePairsThatWereTried) {
  const std::vector<std::string> pairs = {"income*age:16", "region*age:32"};
  const TrainOptions base = {.interactions = {pairs[0]}};
  const SearchSpace space = space_of(base, {}, pairs);
  const std::vector<std::string> wanted[] = {{"none"}, {pairs[0]}, pairs};
  std::set<std::size_t> drawn;
  for (int trial = 1; trial < 100; ++trial) {
    const Json settings = space.draw(trial);
    const Json* const count = settings.find("pairs");
    const std::size_t used = count ? count->get<std::size_t>() : 1;
    EXPECT_EQ(space.options_of(settings)->interactions, wanted[used]);
    if (count) drawn.insert(used);
  }
  EXPECT_EQ(drawn, (std::set<std::size_t>{0, 1, 2}));
  EXPECT_EQ(find(space_of(base, {.fix = {"pairs"}}, pairs), "pairs"), nullptr);
  EXPECT_EQ(find(space_of(base, {}), "pairs"), nullptr);
}

TEST(SearchSpace, NothingIsSearchedThatDoesNothing) {
  const std::tuple<const char*, std::vector<const char*>, std::vector<const char*>> cases[] = {
      {"dln",
       {"weight_decay", "lattice_noise", "continuous_keypoints", "keypoints", "lattices",
        "monotone_share"},
       {}},
      {"dln-one-lattice", {"weight_decay", "lattice_size"}, {"lattices"}},
      {"dln-lattice", {"lattices", "lattice_size"}, {}},
      {"random-lattices", {"lattice_torsion", "lattices"}, {"weight_decay", "monotone_share"}},
      {"calibrated-linear",
       {"calibrator_hessian", "continuous_keypoints", "input_keypoints"},
       {"weight_decay", "lattice_noise", "lattice_laplacian", "lattices", "inner_keypoints"}},
      {"min-max",
       {"weight_decay", "lattices", "lattice_size"},
       {"calibrator_hessian", "calibrator_laplacian", "continuous_keypoints", "keypoints",
        "lattice_noise", "input_keypoints", "monotone_share"}},
      {"min-max-calibrated", {"calibrator_hessian", "input_keypoints", "lattices"}, {}},
      {"monotonic-dnn", {"weight_decay"}, {"calibrator_hessian", "lattices"}},
      {"monotonic-dnn-calibrated", {"calibrator_hessian", "input_keypoints"}, {"lattices"}},
      {"dln-paper",
       {"calibrator_hessian", "lattices", "lattice_size"},
       {"continuous_keypoints", "keypoints", "input_keypoints", "inner_keypoints"}},
      {"crystals", {"lattices", "lattice_size"}, {"weight_decay"}},
      {"dln(2x2)",
       {"continuous_keypoints", "weight_decay"},
       {"lattices", "lattice_size", "input_keypoints", "inner_keypoints", "monotone_share"}},
  };
  for (const auto& [architecture, searched, absent] : cases) {
    const SearchSpace space = space_of({.architecture = architecture}, {});
    for (const char* name : searched) EXPECT_TRUE(find(space, name)) << architecture << name;
    for (const char* name : absent) EXPECT_FALSE(find(space, name)) << architecture << name;
  }
  const SearchSpace uniform = space_of({.keypoints = Keypoints::uniform}, {});
  EXPECT_FALSE(find(uniform, "continuous_keypoints"));
  EXPECT_FALSE(find(uniform, "keypoints"));
}

TEST(SearchSpace, RatesOfPiecesAndUnitsSpanThreeDecades) {
  const auto decades = [](const char* architecture) {
    const SearchSpace space = space_of({.architecture = architecture}, {});
    const Dimension* rate = find(space, "learning_rate");
    return std::log10(rate->high / rate->low);
  };
  for (const char* preset : {"min-max", "min-max(3x2)", "min-max-calibrated", "monotonic-dnn",
                             "monotonic-dnn(20x100)", "monotonic-dnn-calibrated"})
    EXPECT_GE(decades(preset), 3) << preset;
  for (const char* preset : {"dln", "dln-paper", "crystals"})
    EXPECT_LT(decades(preset), 2) << preset;
}

TEST(SearchSpace, TheEndsOfSettingsAreNoReasonToFail) {
  for (const int batch_size : {1, 1 << 20})
    EXPECT_NO_THROW(space_of({.batch_size = batch_size}, {}));
  for (const int epochs : {1, 1000000}) EXPECT_NO_THROW(space_of({.epochs = epochs}, {}));
  EXPECT_NO_THROW(space_of({.learning_rate = 10, .weight_decay = 100}, {}));
  EXPECT_NO_THROW(space_of({.learning_rate = 1e-12}, {}));
}

TEST(SearchSpace, LayersThatSomebodyWroteKeepTheirSizes) {
  const SearchSpace space =
      space_of({}, {.search = {"architecture=cal(9,0:1) lin(4,split) lat(2x2) lin(1):dln"}});
  std::set<std::string> written;
  for (int trial = 2; trial < 50; ++trial) {
    const Json settings = space.draw(trial);
    if (settings["architecture"] != "dln") written.insert(space.options_of(settings)->architecture);
  }
  EXPECT_THAT(written, ElementsAre("cal(9,0:1) lin(4,split) lat(2x2) lin(1)"));
}

TEST(SearchSpace, WhatIsGivenOrFixedIsNotSearchedUnlessAskedFor) {
  const SearchSpace space = space_of({.epochs = 30, .weight_decay = 0.1},
                                     {.search = {"weight_decay=0:1"}, .fix = {"lattices"}});
  EXPECT_EQ(find(space, "epochs"), nullptr);
  EXPECT_EQ(find(space, "lattices"), nullptr);
  ASSERT_NE(find(space, "weight_decay"), nullptr);
  EXPECT_TRUE(find(space, "weight_decay")->always);
  ASSERT_NE(find(space, "learning_rate"), nullptr);
  EXPECT_FALSE(find(space, "learning_rate")->always);
  const SearchSpace additive = space_of({.architecture = "calibrated-linear"}, {});
  EXPECT_EQ(find(additive, "lattice_torsion"), nullptr);
  EXPECT_NE(find(additive, "input_keypoints"), nullptr);
  const SearchSpace written = space_of({.architecture = "cal(20) lin(60) lat(20x3) lin(1)"}, {});
  for (const char* size : {"lattices", "lattice_size", "input_keypoints", "architecture"})
    EXPECT_EQ(find(written, size), nullptr) << size;
}

TEST(SearchSpace, SizesOfTheDrawnLayersOnlyAreDrawn) {
  const SearchSpace space =
      space_of({}, {.search = {"architecture=random-lattices:calibrated-linear",
                               "inner_keypoints=5:9", "lattices=30:40"}});
  for (int trial = 2; trial < 50; ++trial) {
    const Json settings = space.draw(trial);
    EXPECT_FALSE(settings.contains("inner_keypoints"));
    EXPECT_EQ(settings.contains("lattices"), settings["architecture"] == "random-lattices");
  }
}

TEST(SearchSpace, RefusesWhatCannotBe) {
  const std::tuple<TrainOptions, TuneOptions, const char*> bad[] = {
      {{}, {.search = {"lattices=2:3", "lattices=4:5"}}, "lattices has two ranges"},
      {{}, {.search = {"lattices=2:3"}, .fix = {"lattices"}}, "is in fix as well"},
      {{}, {.fix = {"lattice"}}, "did you mean 'lattices'?"},
      {{.architecture = "calibrated-linear"},
       {.search = {"lattices=2:3"}},
       "does nothing for the layers"},
      {{.architecture = "calibrated-linear"},
       {.search = {"lattice_noise=0:1"}},
       "does nothing for"},
      {{.architecture = "dln-one-lattice"}, {.search = {"lattices=2:3"}}, "does nothing for"},
      {{.architecture = "crystals(2x2)"}, {}, "with a place for each of the 9"},
      {{}, {.search = {"lattices=20:500", "lattice_size=4:20"}}, "the largest network"},
      {{.architecture = "cal lat(3x30)"}, {}, "architecture: layer 2"},
      {{}, {.search = {"architecture=dln:dnl"}}, "cannot be built: architecture"},
  };
  for (const auto& [base, tune, message] : bad)
    EXPECT_THAT(error_of([&base = base, &tune = tune] { space_of(base, tune); }),
                HasSubstr(message));
}

TEST(Shape, IsReadAndWrittenWhereTheLayersHaveIt) {
  constexpr const char* kNetwork = "cal(150) lin(350,monotone=70) cal(20) lat(70x5) cal(10) lin(1)";
  const Shape shape = shape_of(parse_architecture(kNetwork));
  EXPECT_EQ(shape.lattices, 70);
  EXPECT_EQ(shape.lattice_size, 5);
  EXPECT_EQ(shape.input_keypoints, 150);
  EXPECT_EQ(shape.inner_keypoints, 10);
  EXPECT_EQ(shape.monotone_share, 0.2);
  EXPECT_EQ(reshaped(kNetwork, {}), kNetwork);
  EXPECT_EQ(reshaped(kNetwork, {.lattices = 10}),
            "cal(150) lin(50,monotone=10) cal(20) lat(10x5) cal(10) lin(1)");
  EXPECT_EQ(reshaped(kNetwork, {.lattice_size = 2, .monotone_share = 0.5}),
            "cal(150) lin(140,monotone=70) cal(20) lat(70x2) cal(10) lin(1)");
  EXPECT_EQ(reshaped(kNetwork, {.input_keypoints = 30, .inner_keypoints = 7}),
            "cal(30) lin(350,monotone=70) cal(7) lat(70x5) cal(7) lin(1)");
  EXPECT_EQ(reshaped("cal(40) gather(20x4) lat(20x4) lin(1)", {.lattices = 5, .lattice_size = 12}),
            "cal(40) gather(5x9) lat(5x9) lin(1)");
  EXPECT_EQ(reshaped("cal(40) lin(1)", {.lattices = 5}), "cal(40) lin(1)");
}

TEST(Shape, KeepsWhatTheLayersNeed) {
  constexpr const char* kOneLattice = "cal(9) lin(8,monotone=4) cal(5) lat(1x8)";
  EXPECT_EQ(shape_of(parse_architecture(kOneLattice)).lattices, 0);
  EXPECT_EQ(reshaped(kOneLattice, {.lattices = 2, .lattice_size = 6}),
            "cal(9) lin(6,monotone=3) cal(5) lat(1x6)");
  EXPECT_EQ(shape_of(parse_architecture("cal(9) lin(8) lat(1x8) cal(5)")).lattices, 0);
  EXPECT_EQ(reshaped("cal(9) lin(8) cal(5) lat(4x2) cal(5) lat", {.lattices = 3}),
            "cal(9) lin(6) cal(5) lat(3x2) cal(5) lat");
  constexpr const char* kMinMax = "lin(24,monotone=24) minmax(8x3)";
  EXPECT_EQ(shape_of(parse_architecture(kMinMax)).monotone_share, 0);
  EXPECT_EQ(reshaped(kMinMax, {.lattices = 5, .monotone_share = 0.2}),
            "lin(15,monotone=15) minmax(5x3)");
  constexpr const char* kCrystals = "gather(8x3,crystals) cal(10) lat(8x3) sum";
  EXPECT_EQ(reshaped(kCrystals, {.lattices = 2, .lattice_size = 1}),
            "gather(5x2,crystals) cal(10) lat(5x2) sum");
  EXPECT_EQ(reshaped(kCrystals, {.lattice_size = 12}), "gather(8x9,crystals) cal(10) lat(8x9) sum");
}

}  // namespace
}  // namespace espalier
