// SPDX-License-Identifier: Apache-2.0
#include "model/label_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "encode/promises.h"

namespace espalier {

namespace {

constexpr double kLargest = std::numeric_limits<float>::max();

bool is_power_of_two(double unit) {
  int exponent = 0;
  return unit > 0 && unit <= kLargest && std::frexp(unit, &exponent) == 0.5;
}

// What only format 2 has.
void put_objective(const Label& label, Json& json) {
  json["loss"] = to_word(label.loss);
  json["classes"] = label.classes;
  json["ordered"] = label.ordered;
  json["quantiles"] = label.quantiles;
  json["power"] = label.power;
  json["offsets"] = label.offsets;
  json["unit"] = label.unit;
  if (label.promises.empty()) return;
  for (const Monotonicity promise : label.promises) json["promises"].push_back(to_word(promise));
}

void get_promises(const Reader& reader, const Json& json, Label& label) {
  for (const auto& word : json.at("promises").get<std::vector<std::string>>()) {
    const auto promise = from_word<Monotonicity>(word);
    if (!promise) reader.fail(fmt::format("header: '{}' is no promise", word));
    label.promises.push_back(*promise);
  }
  const auto first = std::ranges::find_if(
      label.promises, [](Monotonicity promise) { return promise != Monotonicity::none; });
  const bool fits = label.has_many_classes() && label.classes.size() <= kMaxClasses &&
                    label.promises.size() == label.classes.size();
  if (!fits || first == label.promises.end() || *first != Monotonicity::increasing)
    reader.fail("header: promises do not match the classes");
  if (const std::string why = contradiction(label.classes, label.promises); !why.empty())
    reader.fail(fmt::format("header: promises: {}", why));
}

void get_objective(const Reader& reader, const Json& json, Label& label) {
  const auto word = json.at("loss").get<std::string>();
  const auto loss = from_word<Loss>(word);
  if (!loss || *loss == Loss::automatic) reader.fail(fmt::format("header: '{}' is no loss", word));
  label.loss = *loss;
  label.classes = json.at("classes").get<std::vector<std::string>>();
  label.ordered = json.at("ordered").get<bool>();
  label.quantiles = json.at("quantiles").get<std::vector<double>>();
  label.power = json.at("power").get<double>();
  label.offsets = json.at("offsets").get<std::vector<double>>();
  label.unit = json.at("unit").get<double>();
  if (json.contains("promises")) get_promises(reader, json, label);
}

bool has_right_power(const Label& label) {
  switch (label.loss) {
    case Loss::poisson:
      return label.power == 1;
    case Loss::gamma:
      return label.power == 2;
    case Loss::tweedie:
      return label.power > 1 && label.power < 2;
    default:
      return label.power == 0 && label.unit == 1;
  }
}

bool are_rising_shares(const std::vector<double>& quantiles) {
  const auto is_share = [](double q) { return q > 0 && q < 1; };
  return std::ranges::all_of(quantiles, is_share) &&
         std::ranges::adjacent_find(quantiles, std::greater_equal()) == quantiles.end();
}

void check_label(const Reader& reader, const Label& label) {
  const auto require = [&](bool holds, std::string_view what) {
    if (!holds) reader.fail(fmt::format("header: {}", what));
  };
  const std::set<std::string> distinct(label.classes.begin(), label.classes.end());
  if (label.task() == Task::classification) {
    require(distinct.size() > 1, "one class only");
    require(distinct.size() == label.classes.size(), "classes repeat");
    require(!label.ordered || distinct.size() > 2, "too few grades");
  } else {
    require(label.classes.empty() && !label.ordered, "a number has no classes");
  }
  require(label.quantiles.empty() != (label.loss == Loss::quantile), "quantiles of no use");
  require(are_rising_shares(label.quantiles), "quantiles that do not rise from 0 to 1");
  require(has_right_power(label), "the power does not suit the loss");
  require(is_power_of_two(label.unit), "the unit of the label is no power of two");
  require(label.scale > 0, "the scale of the label is not positive");
  require(label.offsets.size() == label.num_scores(), "offsets and scores do not match");
  std::vector<double> units = label.offsets;
  units.push_back(label.scale);
  for (const double unit : units)
    require(std::abs(unit) <= kLargest, fmt::format("{} is beyond the largest float", unit));
}

}  // namespace

std::uint32_t format_of(const Label& label) {
  const bool is_plain = label.loss == Loss::squared_error || label.loss == Loss::log_loss;
  return is_plain && label.num_scores() == 1 ? 1 : 2;
}

Json label_to_json(const Label& label) {
  const bool two = label.classes.size() == 2;
  Json json = {{"name", label.name},
               {"task", to_word(label.task())},
               {"is_number", label.is_number},
               {"negative", two ? label.classes[0] : ""},
               {"positive", two ? label.classes[1] : ""},
               {"offset", label.offsets[0]},
               {"scale", label.scale},
               {"missing", label.missing}};
  if (format_of(label) > 1) put_objective(label, json);
  return json;
}

Label label_from_json(const Reader& reader, const Json& json, std::uint32_t format) {
  Label label{.name = json.at("name").get<std::string>()};
  const auto word = json.at("task").get<std::string>();
  const auto task = from_word<Task>(word);
  if (!task) reader.fail(fmt::format("header: '{}' is no task", word));
  if (*task == Task::automatic) reader.fail("header: the task is not settled");
  label.is_number = json.at("is_number").get<bool>();
  label.scale = json.at("scale").get<double>();
  label.missing = json.at("missing").get<std::vector<std::string>>();
  if (format > 1 && json.contains("loss")) {
    get_objective(reader, json, label);
  } else {
    label.offsets = {json.at("offset").get<double>()};
    if (*task == Task::classification) {
      label.loss = Loss::log_loss;
      label.classes = {json.at("negative").get<std::string>(),
                       json.at("positive").get<std::string>()};
    }
  }
  check_label(reader, label);
  return label;
}

Check check_levels(const Label& label, const CulpritSink& sink) {
  Check check;
  for (std::size_t level = 1; level < label.num_levels(); ++level) {
    const double before = label.offsets[level - 1], after = label.offsets[level];
    ++check.inequalities;
    if (label.ordered ? before >= after : before <= after) continue;
    ++check.violations;
    sink(fmt::format("the offsets of levels {} and {} are not in their order: {} and {}", level,
                     level + 1, before, after));
  }
  return check;
}

}  // namespace espalier
