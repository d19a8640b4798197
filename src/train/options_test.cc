// SPDX-License-Identifier: Apache-2.0
#include "espalier/options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <type_traits>

#include "core/random.h"
#include "espalier/error.h"
#include "espalier/json.h"

namespace espalier {
namespace {

// The message of the Error (argument) that `f` throws.
template <class F>
std::string argument_error_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::argument);
    return error.what();
  }
  return "no error";
}

std::string json_error_of(const std::string& json) {
  TrainOptions options;
  return argument_error_of([&] { apply_json(options, json, "config.json"); });
}

std::string error_of_options(const TrainOptions& options) {
  return argument_error_of([&] { validate(options); });
}

TrainOptions from_json(const std::string& json) {
  TrainOptions options;
  apply_json(options, json, "config.json");
  return options;
}

TEST(Validate, AcceptsTheDefaults) { validate(TrainOptions()); }

TEST(Validate, NamesTheFieldItsValueAndItsRange) {
  EXPECT_EQ(error_of_options({.learning_rate = -1}),
            "learning_rate: -1 is not between 1e-12 and 10, or auto");
  EXPECT_EQ(error_of_options({.epochs = -3}), "epochs: -3 is not between 1 and 1000000, or auto");
  EXPECT_EQ(error_of_options({.valid_fraction = 0.95}),
            "valid_fraction: 0.95 is not between 0 and 0.9");
  EXPECT_EQ(error_of_options({.ensemble = -1}), "ensemble: -1 is not between 1 and 1000, or auto");
}

TEST(Validate, NoNumberMeansThatTrainingChooses) {
  for (const char* json : {R"({"epochs": 0})", R"({"trees": -1})", R"({"tree_share": -1})",
                           R"({"learning_rate": 0})", R"({"weight_decay": -1})"})
    EXPECT_NE(argument_error_of([&] { validate(from_json(json)); }), "no error") << json;
}

TEST(Json, TheWordAutoAndNullLeaveAValueOpen) {
  const TrainOptions set = {.trees = 3, .epochs = 5, .schedule = Schedule::cosine};
  for (const std::string word : {"\"auto\"", "null"}) {
    TrainOptions options = set;
    apply_json(options, "{\"epochs\": " + word + ", \"trees\": " + word + "}", "x");
    EXPECT_TRUE(options.epochs.is_open());
    EXPECT_TRUE(options.trees.is_open());
    EXPECT_TRUE(from_json(to_json(options)).epochs.is_open());
  }
  for (const char* word : {"auto", "automatic"}) {
    TrainOptions options = set;
    apply_json(options, std::string("{\"schedule\": \"") + word + "\"}", "x");
    EXPECT_EQ(options.schedule, Schedule::automatic);
  }
  EXPECT_NE(
      argument_error_of([] { from_json(R"({"epochs": "few"})"); }).find("wanted a whole number"),
      std::string::npos);
}

TEST(Validate, RefusesWhatIsNotFinite) {
  EXPECT_EQ(error_of_options({.learning_rate = std::nan("")}), "learning_rate: nan is not finite");
  EXPECT_EQ(error_of_options({.weight_decay = std::numeric_limits<double>::infinity()}),
            "weight_decay: inf is not finite");
}

TEST(Validate, RefusesWhatIsTooSmallToBeACurveATreeOrADivisor) {
  EXPECT_EQ(error_of_options({.continuous_keypoints = 1}),
            "continuous_keypoints: 1 is not between 2 and 1000000, or auto");
  EXPECT_EQ(error_of_options({.tree_leaves = 1}),
            "tree_leaves: 1 is not between 2 and 256, or auto");
  EXPECT_EQ(error_of_options({.adam_epsilon = 1e-30}),
            "adam_epsilon: 1e-30 is not between 1e-20 and 1, or auto");
}

TEST(Validate, RefusesNegativeNumbersUnlessTheyAreTheDocumentedOneThatChooses) {
  const std::set<std::string> open = {"trees", "tree_share", "weight_decay", "calibrator_hessian"};
  Random random(15);
  TrainOptions options;
  visit_fields(options, [&](const Field& field, auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_arithmetic_v<Value> && std::is_signed_v<Value>) {
      const Value kept = value;
      for (int i = 0; i < 50; ++i) {
        value = static_cast<Value>(i == 0 ? -0.5 : i == 1 ? -2 : -3 * random.uniform());
        if (value == 0 || value == -1) continue;
        EXPECT_NE(error_of_options(options), "no error") << field.name << ' ' << value;
      }
      value = static_cast<Value>(-1);
      EXPECT_EQ(error_of_options(options) == "no error", open.contains(field.name)) << field.name;
      value = kept;
    }
  });
}

TEST(Validate, AcceptsTheEndsOfARangeAndAnySeed) {
  validate({.learning_rate = 1e-9, .valid_fraction = 0.9, .seed = ~std::uint64_t{0}});
}

TEST(OptionsJson, KeepsTheOrderOfTheFieldList) {
  const auto json = Json::parse(to_json({}));
  auto member = json.members().begin();
  const TrainOptions options;
  visit_fields(options, [&](const Field& field, const auto&) {
    ASSERT_NE(member, json.members().end());
    EXPECT_EQ(member->name, field.name);
    ++member;
  });
  EXPECT_EQ(member, json.members().end());
}

TEST(OptionsJson, ComesBackAsItWent) {
  TrainOptions options;
  options.label = "default \"paid\"";
  options.increasing = {"income", "a,b", ""};
  options.order = {"size=S<M<L"};
  options.task = Task::classification;
  options.schedule = Schedule::constant;
  options.metric = Metric::auc;
  options.epochs = 17;
  options.learning_rate = 0.1;
  options.seed = ~std::uint64_t{0};
  const std::string json = to_json(options);
  EXPECT_EQ(to_json(from_json(json)), json);
  EXPECT_EQ(from_json(json).increasing, options.increasing);
  EXPECT_EQ(from_json(json).seed, options.seed);
}

TEST(OptionsJson, IsWrittenEvenIfANameIsNotUtf8) {
  const auto json = Json::parse(to_json({.label = "gr\xfc\xdf"}));
  EXPECT_EQ(json["label"], "gr\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(ApplyJson, ChangesOnlyTheFieldsItNames) {
  TrainOptions options = {.label = "y", .epochs = 9};
  apply_json(options, R"({"learning_rate": 1, "metric": "auc"})", "config.json");
  EXPECT_EQ(options.label, "y");
  EXPECT_EQ(options.epochs, 9);
  EXPECT_EQ(options.learning_rate, 1);
  EXPECT_EQ(options.metric, Metric::auc);
}

TEST(ApplyJson, ChangesNothingIfAnyFieldIsWrong) {
  TrainOptions options;
  EXPECT_THROW(apply_json(options, R"({"label": "y", "threads": "all"})", "c"), Error);
  EXPECT_EQ(options.label, "");
}

TEST(ApplyJson, TakesWholeNumbersInAnySpelling) {
  EXPECT_EQ(from_json(R"({"epochs": 30.0})").epochs, 30);
  EXPECT_EQ(from_json(R"({"epochs": 3e1})").epochs, 30);
  EXPECT_EQ(from_json(R"({"epochs": -3})").epochs, -3);
  EXPECT_EQ(from_json(R"({"epochs": -3.0})").epochs, -3);
  EXPECT_EQ(from_json(R"({"seed": 18446744073709551615})").seed, ~std::uint64_t{0});
}

TEST(ApplyJson, TakesListsOfStringsAndTextWithCommas) {
  using Strings = std::vector<std::string>;
  EXPECT_EQ(from_json(R"({"increasing": ["a", "b,c"]})").increasing, (Strings{"a", "b,c"}));
  EXPECT_EQ(from_json(R"({"increasing": "a, b c ,d"})").increasing, (Strings{"a", "b c", "d"}));
  EXPECT_EQ(from_json(R"({"increasing": ""})").increasing, Strings{});
  EXPECT_EQ(from_json(R"({"increasing": " , "})").increasing, Strings{});
  EXPECT_EQ(from_json(R"({"increasing": []})").increasing, Strings{});
}

struct BadJson {
  const char* json;
  const char* message;
};

class ApplyBadJson : public testing::TestWithParam<BadJson> {};

TEST_P(ApplyBadJson, SaysWhatWasFoundAndWanted) {
  EXPECT_EQ(json_error_of(GetParam().json), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ApplyBadJson,
    testing::Values(
        BadJson{"[1]", "config.json: wanted a JSON object, found [1]"},
        BadJson{R"({"seed": 1e999})", "config.json: not JSON: no double holds 1e999"},
        BadJson{R"({"epoch": 3})", "config.json: 'epoch' is no field; did you mean 'epochs'?"},
        BadJson{R"({"temperature": 3})", "config.json: 'temperature' is no field"},
        BadJson{R"({"epochs": "ten"})",
                R"(config.json: 'epochs': wanted a whole number, found "ten")"},
        BadJson{R"({"epochs": 1.5})", "config.json: 'epochs': wanted a whole number, found 1.5"},
        BadJson{R"({"patience": null})",
                "config.json: 'patience': wanted a whole number, found null"},
        BadJson{R"({"epochs": true})", "config.json: 'epochs': wanted a whole number, found true"},
        BadJson{R"({"epochs": 3000000000})",
                "config.json: 'epochs': wanted a whole number from -2147483648 to 2147483647, "
                "found 3000000000"},
        BadJson{R"({"seed": -1})",
                "config.json: 'seed': wanted a whole number from 0 to 18446744073709551615, "
                "found -1"},
        BadJson{R"({"seed": 1e30})",
                "config.json: 'seed': wanted a whole number from 0 to 18446744073709551615, "
                "found 1e+30"},
        BadJson{R"({"learning_rate": "0.1"})",
                R"(config.json: 'learning_rate': wanted a number, found "0.1")"},
        BadJson{R"({"schedule": "cos"})",
                "config.json: 'schedule': wanted one of auto, averaged, cosine, constant, "
                "found 'cos'"},
        BadJson{R"({"schedule": 1})",
                "config.json: 'schedule': wanted one of auto, averaged, cosine, constant, "
                "found 1"},
        BadJson{R"({"label": 7})", "config.json: 'label': wanted a string, found 7"},
        BadJson{R"({"increasing": ["a", 1]})",
                R"(config.json: 'increasing': wanted a list of strings, found ["a",1])"},
        BadJson{R"({"increasing": {"a": 1}})",
                R"(config.json: 'increasing': wanted a list of strings, found {"a":1})"}));

TEST(ApplyJson, SaysWhereTextIsNotJson) {
  const std::string message = json_error_of("{\"epochs\": 3,\n oops}");
  EXPECT_EQ(message.find("config.json: not JSON: line 2, column "), 0u) << message;
  EXPECT_EQ(json_error_of("").find("config.json: not JSON: "), 0u);
}

TEST(ApplyJson, RefusesTextThatIsNestedTooDeeply) {
  EXPECT_EQ(json_error_of("{\"label\": " + std::string(100000, '[')),
            "config.json: nested deeper than 64");
}

TEST(ApplyJson, CutsLongValuesShort) {
  const std::string message = json_error_of("{\"epochs\": \"" + std::string(1000, 'x') + "\"}");
  EXPECT_LT(message.size(), 120u);
}

}  // namespace
}  // namespace espalier
