// SPDX-License-Identifier: Apache-2.0
#include "model/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "espalier/certificate.h"
#include "espalier/error.h"
#include "espalier/inspect.h"
#include "espalier/json.h"
#include "espalier/model.h"
#include "espalier/text.h"
#include "support/effort.h"
#include "support/random_model.h"
#include "support/schema_rows.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

// A small model made by hand: two numbers and a category.
ModelData small_model() {
  ModelData model;
  model.schema.features = {
      {.name = "a", .monotonicity = Monotonicity::increasing, .keypoints = {0, 1, 2}},
      {.name = "b",
       .monotonicity = Monotonicity::decreasing,
       .keypoints = {-1, 1},
       .learns_missing = true},
      {.name = "c",
       .kind = FeatureKind::category,
       .categories = {"x", "y"},
       .shares = {0.75f, 0.25f}}};
  model.schema.label = {
      .name = "label", .loss = Loss::log_loss, .classes = {"no", "yes"}, .offsets = {-1}};
  model.training_json = "{}";
  Network& network =
      model.members
          .emplace_back(Network(parse_architecture("cal(3) lin(4) cal(3) lat(2x2) lin(1)"),
                                input_wires(model.schema), model.calibrators, Random(1)))
          .network();
  Random random(2);
  for (float& p : network.params()) p = static_cast<float>(random.uniform());
  for (int l = 0; l < network.num_layers(); ++l) {
    const Layer& layer = network.layer(l);
    float* params = network.params().data() + network.offset(l);
    for (int u = 0; u < layer.num_units(); ++u)
      layer.project(params + layer.unit_begin(u), u, Projection::exact, {});
  }
  return model;
}

std::string error_of(const std::string& bytes,
                     Inequalities inequalities = Inequalities::must_hold) {
  try {
    parse_model(bytes, "m.esp", inequalities);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::format);
    return error.what();
  }
  return "no error";
}

void repair_checksum(std::string& bytes) {
  const std::uint64_t sum = XXH64(bytes.data(), bytes.size() - 8, 0);
  std::memcpy(bytes.data() + bytes.size() - 8, &sum, 8);
}

TEST(ModelFile, ReadsBackToTheSameBytes) {
  const std::string bytes = format_model(small_model());
  EXPECT_EQ(format_model(parse_model(bytes, "m.esp", Inequalities::must_hold)), bytes);
}

TEST(ModelFile, AModelTravelsAsBytes) {
  const std::string bytes = format_model(small_model());
  EXPECT_EQ(Model::from_bytes(bytes).to_bytes(), bytes);
  EXPECT_THROW(Model::from_bytes("no model", "message"), Error);
}

TEST(ModelFile, EveryBitFlipIsRefused) {
  const std::string bytes = format_model(small_model());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      ASSERT_NE(error_of(flipped), "no error") << "byte " << i << ", bit " << bit;
    }
  }
}

TEST(ModelFile, EveryTruncationIsRefused) {
  const std::string bytes = format_model(small_model());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_NE(error_of(bytes.substr(0, size)), "no error") << size;
    if (size < 8) continue;
    // Also if somebody makes the checksum right again.
    std::string repaired = bytes.substr(0, size);
    repair_checksum(repaired);
    ASSERT_NE(error_of(repaired), "no error") << size;
  }
  EXPECT_NE(error_of(bytes + "x"), "no error");
}

TEST(ModelFile, ABrokenInequalityIsRefusedAndNamedByVerify) {
  ModelData model = small_model();
  const Network& network = model.members[0].network();
  // The first output of the first calibrator above the second.
  model.members[0].network().params()[0] = 1;
  model.members[0].network().params()[1] = 0.5f;
  const std::string bytes = format_model(model);
  EXPECT_THAT(error_of(bytes),
              HasSubstr("layer 1: calibrator 0: output 0 is 1, above output 1, 0.5"));
  const std::string path = testing::TempDir() + "broken.esp";
  std::ofstream(path, std::ios::binary) << bytes;
  const Certificate certificate = verify_file(path);
  EXPECT_FALSE(certificate.holds());
  EXPECT_GE(certificate.violations, 1u);
  EXPECT_THAT(certificate.culprits[0], HasSubstr("layer 1: cal(3): calibrator 0"));
  EXPECT_THROW(Model::load(path), Error);
  EXPECT_GT(network.params().size(), 0u);
  std::filesystem::remove(path);
}

TEST(ModelFile, NumbersThatAreNotFiniteAreRefused) {
  ModelData model = small_model();
  model.members[0].network().params().back() = std::numeric_limits<float>::infinity();
  EXPECT_THAT(error_of(format_model(model)), HasSubstr("not monotone"));
  model = small_model();
  model.members[0].network().layer(2).constants()[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(error_of(format_model(model)), HasSubstr("range"));
}

TEST(ModelFile, ANewerVersionIsNamed) {
  std::string bytes = format_model(small_model());
  bytes[8] = 4;
  repair_checksum(bytes);
  EXPECT_THAT(error_of(bytes), HasSubstr("format version 4, this program reads versions 1 to 3"));
}

// The small model with a piece of its header replaced, and length and checksum made right again.
std::string with(std::string_view from, std::string_view to) {
  std::string bytes = format_model(small_model());
  const std::size_t at = bytes.find(from);
  EXPECT_NE(at, bytes.npos);
  bytes.replace(at, from.size(), to);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data() + 12, 8);
  header += to.size() - from.size();
  std::memcpy(bytes.data() + 12, &header, 8);
  repair_checksum(bytes);
  return bytes;
}

std::string error_with(std::string_view from, std::string_view to) {
  return error_of(with(from, to));
}

TEST(ModelFile, AHeaderThatContradictsItselfIsRefused) {
  EXPECT_THAT(error_with("[0.0,1.0,2.0]", "[0.0,2.0,1.0]"), HasSubstr("keypoints do not rise"));
  EXPECT_THAT(error_with("\"words\":[\"x\",\"y\"]", "\"words\":[\"x\",\"x\"]"),
              HasSubstr("words repeat"));
  EXPECT_THAT(error_with("\"scale\":1.0", "\"scale\":0.0"), HasSubstr("not positive"));
  EXPECT_THAT(error_with("\"scale\":1.0", "\"scale\":1e99"), HasSubstr("beyond the largest float"));
  EXPECT_THAT(error_with("lat(2x2)", "lat(2x9)"), HasSubstr("wires"));
  EXPECT_THAT(error_with("lin(4", "lin(9000000"), HasSubstr("parameters"));
  EXPECT_THAT(error_with("\"name\":\"b\"", "\"name\":\"a\""), HasSubstr("same name"));
  EXPECT_THAT(error_with("\"kind\":\"category\"", "\"kind\":\"colour\""),
              HasSubstr("'colour' is no kind"));
  EXPECT_THAT(error_with("{\"espalier\"", "{\"espalier"), HasSubstr("header"));
  EXPECT_THAT(error_with("\"keypoints\":[-1.0,1.0]", "\"keypoints\":5.0"),
              HasSubstr("keypoints is not a list"));
  EXPECT_THAT(error_with("\"shares\":[0.75,0.25]", "\"shares\":{\"x\":1,\"y\":1}"),
              HasSubstr("shares is not a list"));
  EXPECT_THAT(error_with("\"shares\":[0.75,0.25]", "\"shares\":[0.0,0.0]"),
              HasSubstr("without a sum"));
  EXPECT_THAT(error_with("\"pools_rare\":false,\"missing\":[]}],",
                         "\"pools_rare\":true,\"missing\":[]}],\"features\":7,"),
              HasSubstr("the key \"features\" is there twice"));
}

// The error of a model with pairs, crossed ones or grids, when the first of them is changed in its
// header.
std::string error_with_pair(const std::function<void(Json& pair)>& change, bool is_grid = false) {
  for (std::uint64_t seed = 1;; ++seed) {
    Random random(seed);
    const Model model = random_model(random);
    const std::vector<Pair>& pairs = model.schema().pairs;
    if (pairs.empty() || pairs.front().is_grid() != is_grid) continue;
    std::string bytes = model.to_bytes();
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + 12, 8);
    Json header = Json::parse(bytes.substr(20, size));
    change(header["pairs"][0]);
    const std::string text = header.dump();
    bytes.replace(20, size, text);
    size = text.size();
    std::memcpy(bytes.data() + 12, &size, 8);
    repair_checksum(bytes);
    return error_of(bytes);
  }
}

TEST(ModelFile, APairThatCannotBeIsRefused) {
  EXPECT_EQ(error_with_pair([](Json&) {}), "no error");
  const std::pair<std::function<void(Json&)>, const char*> cases[] = {
      {[](Json& pair) { pair["columns"][0] = "nobody"; }, "'nobody': no such feature"},
      {[](Json& pair) { pair["columns"][0] = "last"; }, "a monotone feature cannot be crossed"},
      {[](Json& pair) { pair["columns"][0] = pair["columns"][1]; }, "crossed with itself"},
      {[](Json& pair) { pair["columns"].push_back("x0"); }, "wanted two columns"},
      {[](Json& pair) { pair["edges"][0] = 7; }, "wanted two columns with their edges"},
      {[](Json& pair) { pair["edges"][1] = Json::array(); }, "one bin only"},
      {[](Json& pair) { pair["edges"][1].push_back(-1e9); }, "edges do not rise"},
      {[](Json& pair) { pair["edges"][1].push_back(1e39); }, "is not a float"},
      {[](Json& pair) { pair["edges"][1].push_back(1024.0); }, "codes and bins do not match"},
      {[](Json& pair) { pair["codes"][0] = pair["shares"].size() + 1; }, "a code without a share"},
      {[](Json& pair) { pair["codes"][0] = -1; }, "a code without a share"},
      {[](Json& pair) { pair["shares"][0] = -1.0; }, "a negative share"},
      {[](Json& pair) { pair["shares"] = Json::array(); }, "shares without a sum"},
      {[](Json& pair) { pair["shares"].push_back(0.5); }, "parameters"},
      {[](Json& pair) { pair.erase("codes"); }, "codes"}};
  for (const auto& [change, wanted] : cases)
    EXPECT_THAT(error_with_pair(change), HasSubstr(wanted));
}

TEST(ModelFile, AGridThatCannotBeIsRefused) {
  EXPECT_EQ(error_with_pair([](Json&) {}, true), "no error");
  const std::pair<std::function<void(Json&)>, const char*> cases[] = {
      {[](Json& pair) { pair["columns"][0] = pair["columns"][1]; }, "crossed with itself"},
      {[](Json& pair) { pair["vertices"][0] = 7; }, "wanted two columns"},
      {[](Json& pair) { pair["vertices"][1] = Json::array({0}); }, "fewer than two vertices"},
      {[](Json& pair) { pair["vertices"][1][0] = -2; }, "the column has no place"},
      {[](Json& pair) { pair["vertices"][1].push_back(1000); }, "the column has no place"},
      {[](Json& pair) { pair["vertices"][1].push_back(0); }, "vertices do not rise"},
      {[](Json& pair) { pair["vertices"][1][0] = 0.5; }, "no whole number"},
      {[](Json& pair) { pair.erase("vertices"); }, "edges"}};
  for (const auto& [change, wanted] : cases)
    EXPECT_THAT(error_with_pair(change, true), HasSubstr(wanted));
}

TEST(ModelFile, AnArchitectureThatLeavesSomethingOpenIsRefusedBeforeItIsBuilt) {
  const std::string settled =
      "cal(3) lin(4,monotone=2) cal(3) gather(2,0,1,3) lat(2x2) lin(1,monotone=1)";
  const std::string written = to_string(small_model().members[0].network().architecture());
  for (const char* open : {"cal(3) gather(4096x4096) lat(4096x4096) lin(1)", "cal lin(1)",
                           "cal(3) lin", "cal(3) gather lat(2x2) lin(1)", "cal(3) lat"}) {
    EXPECT_THAT(error_with(written, open), HasSubstr("leaves something open")) << open;
  }
  EXPECT_THAT(error_with(written, "cal(3) lin(4,monotone=2) cal(3) lat(2x2) lin(1,monotone=1)"),
              HasSubstr("not written as it is built"));
  EXPECT_THAT(error_with("lin(4", "lin(04"), HasSubstr("not written as it is built"));
  EXPECT_THAT(error_with("lin(4", "lin(99999999999999999999"), HasSubstr("whole number"));
}

TEST(ModelFile, NestedHeadersAndTooManyNetworksAreRefused) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_THAT(error_with("\"training\":{}", "\"training\":{\"x\":" + deep + "}"),
              HasSubstr("header: nested deeper than 64"));
  std::string many = "\"architectures\":[";
  for (int i = 0; i < 2000; ++i) many += "\"lin(1)\",";
  EXPECT_THAT(error_with("\"architectures\":[", many), HasSubstr("2001 members"));
}

TEST(ModelFile, TextThatIsNotUtf8IsRefused) {
  EXPECT_THAT(error_with("\"name\":\"a\"", "\"name\":\"\xff\""), HasSubstr("UTF-8"));
  EXPECT_THAT(error_with("\"training\":{}", "\"training\":{\"\x80\":1e999}"), HasSubstr("UTF-8"));
}

TEST(ModelFile, ParametersThatCouldOverflowAreRefused) {
  ModelData model = small_model();
  const Network& network = model.members[0].network();
  model.members[0].network().params()[network.offset(1)] = 3e38f;
  EXPECT_THAT(error_of(format_model(model)), HasSubstr("layer 2: an output may reach 6e+38"));
  EXPECT_EQ(error_of(format_model(model), Inequalities::may_fail), "no error");
  EXPECT_FALSE(verify(Model(std::make_shared<const ModelData>(std::move(model)))).holds());
}

// Whatever the units of the label, a model predicts finite numbers or is refused.
TEST(ModelFile, UnitsThatCouldOverflowAreRefused) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  int refused = 0;
  for (const Loss loss : {Loss::log_loss, Loss::squared_error}) {
    for (const double offset : {0.0, 1.0, -1e30, kLargest / 2, kLargest, -kLargest}) {
      for (const double scale : {1e-30, 1.0, 1e30, kLargest / 4, kLargest}) {
        ModelData model = small_model();
        model.schema.label.loss = loss;
        if (loss == Loss::squared_error) model.schema.label.classes.clear();
        model.schema.label.offsets[0] = offset;
        model.schema.label.scale = scale;
        const std::string bytes = format_model(model);
        if (error_of(bytes) != "no error") {
          EXPECT_THAT(error_of(bytes), HasSubstr("a score may reach"));
          ++refused;
          continue;
        }
        const Model loaded = Model::from_bytes(bytes);
        for (const float score : loaded.predict(schema_rows(loaded.schema()), Output::score))
          EXPECT_TRUE(std::isfinite(score)) << offset << " " << scale;
      }
    }
  }
  EXPECT_GT(refused, 10);
  EXPECT_LT(refused, 50);
  ModelData model = small_model();
  model.schema.label.offsets[0] = 1e300;
  EXPECT_THAT(error_of(format_model(model), Inequalities::may_fail),
              HasSubstr("1e+300 is beyond the largest float"));
}

TEST(ModelFile, RangesThatNobodyCanDivideByAreRefused) {
  for (const auto& [lo, hi] :
       {std::pair{0.0f, 1e-45f}, {-3e38f, 3e38f}, {1.0f, 1.0f}, {1.0f, 0.0f}}) {
    ModelData model = small_model();
    model.members[0].network().layer(2).constants()[0] = lo;
    model.members[0].network().layer(2).constants()[1] = hi;
    EXPECT_THAT(error_of(format_model(model)), HasSubstr("range")) << lo << ':' << hi;
  }
}

// Loads, is proved and predicts numbers.
void expect_usable(const std::string& bytes) {
  const Model model(
      std::make_shared<const ModelData>(parse_model(bytes, "m.esp", Inequalities::must_hold)));
  EXPECT_TRUE(verify(model).holds());
  for (const float p : model.predict(schema_rows(model.schema()), Output::prediction, 1))
    EXPECT_FALSE(std::isnan(p));
}

TEST(ModelFile, EveryBitFlipUnderARightChecksumIsRefusedOrGivesAUsableModel) {
  const std::string bytes = format_model(small_model());
  int num_loaded = 0;
  for (std::size_t i = 0; i + 8 < bytes.size(); ++i) {
    for (int bit = effort(0, static_cast<int>(i % 8)); bit < 8; bit += effort(1, 8)) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      repair_checksum(flipped);
      if (error_of(flipped) != "no error") continue;
      SCOPED_TRACE(testing::Message() << "byte " << i << ", bit " << bit);
      expect_usable(flipped);
      ++num_loaded;
    }
  }
  EXPECT_GT(num_loaded, effort(100, 10));  // low bits of parameters, letters of words
}

// The same of models of every kind, a few bits of each.
TEST(ModelFile, FlippedBitsOfRandomModelsAreRefusedOrGiveAUsableModel) {
  const int models = effort(20, 6), flips = effort(300, 40);
  int num_loaded = 0;
  for (int seed = 1; seed <= models; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const Model model = seed % 5 == 0 ? random_model_of_classes(random) : random_model(random);
    const std::string bytes = format_model(model.data());
    EXPECT_EQ(format_model(parse_model(bytes, "m.esp", Inequalities::must_hold)), bytes);
    for (int i = 0; i < flips; ++i) {
      std::string flipped = bytes;
      // Half of them in the header.
      const std::size_t end =
          i % 2 == 0 ? std::min<std::size_t>(bytes.size() - 8, 3000) : bytes.size() - 8;
      char& byte = flipped[random.below(end)];
      byte = static_cast<char>(byte ^ (1 << random.below(8)));
      repair_checksum(flipped);
      if (error_of(flipped) != "no error") continue;
      expect_usable(flipped);
      ++num_loaded;
    }
  }
  EXPECT_GT(num_loaded, models);
}

TEST(ModelFile, AStrangeTrainingRecordDoesNotBreakInspect) {
  for (const char* training :
       {"{}", R"({"train_rows":"many","valid_rows":-1,"validation":[1,"x"]})",
        R"({"train_rows":null,"validation":7})", R"({"validation":{"auc":[]}})"}) {
    ModelData model = small_model();
    model.training_json = training;
    EXPECT_THAT(inspect_text(Model(std::make_shared<const ModelData>(std::move(model)))),
                HasSubstr("trained on    0 rows"))
        << training;
  }
}

// Whatever the strings of a model hold, its page commands no terminal and keeps its lines.
TEST(ModelFile, InspectEscapesControlCharactersEverywhere) {
  const auto page = [](const std::string& bad) {
    ModelData model = small_model();
    Schema& schema = model.schema;
    for (std::string* text :
         {&schema.label.name, &schema.label.classes[1], &schema.label.classes[0], &model.version})
      *text += bad;
    for (Feature& feature : schema.features) {
      feature.name += bad;
      for (std::string& word : feature.categories) word += bad;
      feature.missing = {bad};
    }
    const Json training = {{"validation", {{"auc" + bad, 0.5}}}, {bad, bad}};
    model.training_json = training.dump();
    return inspect_text(Model(std::make_shared<const ModelData>(std::move(model))));
  };
  const std::string clean = page("x");
  std::string all;
  for (int c = 1; c < 0x20; ++c) all += static_cast<char>(c);
  for (const std::string& bad : {std::string("\n"), std::string("\x1b[2J"), std::string("\x7f"),
                                 std::string("\xc2\x9b"), all}) {
    const std::string text = page(bad);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      EXPECT_TRUE(c == '\n' || (c >= 0x20 && c != 0x7f)) << i << " in " << text;
      EXPECT_FALSE(c == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0) << text;
    }
    EXPECT_EQ(std::ranges::count(text, '\n'), std::ranges::count(clean, '\n')) << text;
  }
  EXPECT_EQ(escape_controls("caf\u00e9 \t\x01"), "caf\u00e9 \\t\\x01");
}

TEST(ModelFile, AnOrderedFeatureMayHaveFewerWordsThanKeypoints) {
  ModelData model = small_model();
  model.schema.features[0].kind = FeatureKind::ordered;
  model.schema.features[0].categories = {"low", "high"};
  const Model three_keypoints(std::make_shared<const ModelData>(std::move(model)));
  EXPECT_THAT(inspect_text(three_keypoints), HasSubstr("a: 0 -> "));
}

TEST(Model, ShowsAnArchitectureThatCanBeBuiltAgain) {
  ModelData model = small_model();
  EXPECT_EQ(Model(std::make_shared<const ModelData>(small_model())).architecture(),
            "cal(3) lin(4,monotone=2) cal(3) lat(2x2) lin(1)");
  model.members.clear();
  model.members.emplace_back(Network(parse_architecture("cal(3) gather(3x2) lat(3x2) lin(1)"),
                                     input_wires(model.schema), model.calibrators, Random(1)));
  EXPECT_EQ(Model(std::make_shared<const ModelData>(std::move(model))).architecture(),
            "cal(3) gather(3x2) lat(3x2) lin(1)");
}

TEST(Certificate, CountsEveryInequality) {
  const Certificate certificate = verify(Model(std::make_shared<const ModelData>(small_model())));
  EXPECT_TRUE(certificate.holds());
  EXPECT_EQ(certificate.increasing, std::vector<std::string>{"a"});
  EXPECT_EQ(certificate.decreasing, std::vector<std::string>{"b"});
  EXPECT_EQ(certificate.model_hash.size(), 16u);
  // Calibrators of a and b: 2 bounds for each of 3 + 3 outputs, 2 + 1 steps, and 6 finite
  // parameters.
  EXPECT_EQ(certificate.layers[0].inequalities, 2u * 6 + 3 + 6);
}

}  // namespace
}  // namespace espalier
