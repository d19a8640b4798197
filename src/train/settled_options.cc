// SPDX-License-Identifier: Apache-2.0
#include "train/settled_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "espalier/architecture.h"
#include "espalier/error.h"
#include "model/builder.h"
#include "objective/metrics.h"
#include "train/interactions.h"
#include "train/policy.h"
#include "train/presets.h"

namespace espalier {

namespace {

template <class Value>
bool is_open(const Field& field, const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return to_word(value) == "auto";
  } else if constexpr (is_auto<Value>) {
    return value.is_open();
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    return std::string_view(field.name) == "interactions" && leaves_interactions_open(value);
  } else {
    return false;
  }
}

// Gives an open field its value.
template <class Enum>
void choose(Enum& field, Enum open, Enum chosen) {
  if (field == open) field = chosen;
}
template <class T>
void choose(Auto<T>& field, T chosen) {
  field = field.value_or(chosen);
}

void follow(const Recipe& recipe, bool few_rows, TrainOptions& options) {
  choose(options.initialization, Initialization::automatic, recipe.initialization);
  choose(options.projection, Projection::automatic, recipe.projection);
  choose(options.schedule, Schedule::automatic, recipe.schedule);
  choose(options.adam_epsilon, recipe.adam_epsilon);
  choose(options.weight_decay, recipe.weight_decay);
  choose(options.calibrator_hessian, few_rows ? recipe.calibrator_hessian : 0);
  if (recipe.epochs) choose(options.epochs, *recipe.epochs);
}

// How many keypoints a column with many values has; layers that somebody has written mean what they
// say.
int continuous_keypoints_for(bool is_preset, const std::optional<LayerSpec>& calibrators,
                             std::size_t rows) {
  constexpr int kEndsOfTheRange = 2;
  if (!calibrators) return kEndsOfTheRange;
  if (!is_preset || calibrators->range) return calibrators->keypoints;
  return continuous_keypoints(rows);
}

}  // namespace

SettledOptions::SettledOptions(TrainOptions options) : options_(std::move(options)) {
  visit_fields(std::as_const(options_), [](const Field& field, const auto& value) {
    if (is_open(field, value))
      throw Error(ErrorKind::unsupported, fmt::format("{}: nothing was chosen", field.name));
  });
}

SettledOptions settle(TrainOptions options, const Label& label,
                      const std::vector<Feature>& features, std::size_t rows,
                      Validation validation) {
  options.task = label.task();
  options.loss = label.loss;
  options.metric = settle_metric(options.metric, label);
  const std::optional<Preset> preset = find_preset(options.architecture, rows, features, label);
  const Recipe recipe = preset ? preset->recipe : Recipe();
  const bool stops_by_itself = recipe.asks_the_data && validation != Validation::none &&
                               options.epochs.is_open() && options.patience == 0;
  if (stops_by_itself) choose(options.schedule, Schedule::automatic, Schedule::averaged);
  follow(recipe, rows < kFewRows, options);
  choose(options.learning_rate, recipe.rate ? *recipe.rate : learning_rate(rows));
  if (preset) options.architecture = preset->layers;
  const auto calibrators = input_calibrators(parse_architecture(options.architecture));
  if (calibrators && calibrators->range) options.keypoints = Keypoints::uniform;
  choose(options.keypoints, Keypoints::automatic, recipe.keypoints);
  choose(options.continuous_keypoints,
         continuous_keypoints_for(preset.has_value(), calibrators, rows));
  const bool averaged = options.schedule == Schedule::averaged;
  choose(options.ensemble, stops_by_itself && averaged
                               ? default_members(rows, validation == Validation::split_off)
                           : preset && rows < kVeryFewRows ? recipe.ensemble
                                                           : 1);
  choose(options.trees, 0);  // pose() knows whether there can be any
  choose(options.tree_leaves, tree_leaves(rows));
  choose(options.tree_rate, kTreeRate);
  choose(options.tree_share, 0.5);
  choose(options.batch_size, batch_size(rows, label));
  const int length = first_length(rows, options.batch_size, label.num_levels());
  choose(options.epochs,
         averaged && validation != Validation::none ? kLongestTraining * length : length);
  if (leaves_interactions_open(options.interactions)) options.interactions = {"none"};
  return SettledOptions(std::move(options));
}

SettledOptions for_search(const SettledOptions& options, const Label& label, std::size_t rows,
                          double share) {
  TrainOptions changed = *options;
  if (changed.schedule == Schedule::averaged) {
    changed.schedule = Schedule::cosine;
    changed.epochs = std::min(changed.epochs.value(),
                              first_length(rows, changed.batch_size, label.num_levels()));
  }
  changed.epochs = static_cast<int>(std::ceil(share * changed.epochs));
  return SettledOptions(std::move(changed));
}

Json deciding_options(const SettledOptions& options) {
  Json json = Json::parse(to_json(*options));
  json.erase("threads");
  return json;
}

}  // namespace espalier
