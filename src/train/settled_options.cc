// SPDX-License-Identifier: Apache-2.0
#include "train/settled_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "espalier/architecture.h"
#include "espalier/error.h"
#include "model/builder.h"
#include "objective/metrics.h"
#include "train/interactions.h"
#include "train/presets.h"

namespace espalier {

namespace {

template <class Value>
bool is_open(const Field& field, const Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    return to_word(value) == "automatic";
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return static_cast<double>(value) == field.chooses;
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    return std::string_view(field.name) == "interactions" && leaves_interactions_open(value);
  } else {
    return false;
  }
}

// Gives an open field its value.
template <class Value>
void choose(Value& field, Value open, Value chosen) {
  if (field == open) field = chosen;
}

void follow(const Recipe& recipe, bool few_rows, TrainOptions& options) {
  choose(options.initialization, Initialization::automatic, recipe.initialization);
  choose(options.projection, Projection::automatic, recipe.projection);
  choose(options.schedule, Schedule::automatic, recipe.schedule);
  choose(options.adam_epsilon, 0.0, recipe.adam_epsilon);
  if (options.weight_decay < 0) options.weight_decay = recipe.weight_decay;
  if (options.calibrator_hessian < 0)
    options.calibrator_hessian = few_rows ? recipe.calibrator_hessian : 0;
  // Few rows want small steps; many keep large ones from overfitting by themselves.
  const double by_rows = few_rows ? 0.01 : 0.04;
  choose(options.learning_rate, 0.0, recipe.rate > 0 ? recipe.rate : by_rows);
  choose(options.epochs, 0, recipe.epochs);
}

// How many keypoints a column with many values has; layers that somebody has written mean what they
// say.
int continuous_keypoints_for(bool is_preset, const std::optional<LayerSpec>& calibrators,
                             std::size_t rows) {
  constexpr int kEndsOfTheRange = 2;
  if (!calibrators) return kEndsOfTheRange;
  if (!is_preset || calibrators->range) return calibrators->keypoints;
  return rows < 10000 ? 15 : rows < 50000 ? 30 : 60;
}

// Counts and amounts are mostly 0, and a few large ones are noise that larger batches average.
int batch_size_for(std::size_t rows, const Label& label) {
  const int most = label.has_log_link() ? 2048 : 256;
  int batch = 32;
  while (batch < most && static_cast<std::size_t>(batch) * 100 < rows) batch *= 2;
  return batch;
}

// Enough steps for small tables, enough epochs for large ones. An epoch sees each row at one of its
// levels; half as many again for each level are enough.
int epochs_for(std::size_t rows, int batch_size, std::size_t levels) {
  constexpr double kSteps = 2000;
  const int once =
      std::clamp(static_cast<int>(kSteps * batch_size / static_cast<double>(rows)), 12, 200);
  return once * static_cast<int>(levels + 1) / 2;
}

}  // namespace

SettledOptions::SettledOptions(TrainOptions options) : options_(std::move(options)) {
  visit_fields(std::as_const(options_), [](const Field& field, const auto& value) {
    if (is_open(field, value))
      throw Error(ErrorKind::unsupported, fmt::format("{}: nothing was chosen", field.name));
  });
}

SettledOptions settle(TrainOptions options, const Label& label,
                      const std::vector<Feature>& features, std::size_t rows) {
  const bool few_rows = rows < 20000;
  options.task = label.task();
  options.loss = label.loss;
  options.metric = settle_metric(options.metric, label);
  const std::optional<Preset> preset = find_preset(options.architecture, rows, features, label);
  const Recipe recipe = preset ? preset->recipe : Recipe();
  follow(recipe, few_rows, options);
  if (preset) options.architecture = preset->layers;
  const auto calibrators = input_calibrators(parse_architecture(options.architecture));
  if (calibrators && calibrators->range) options.keypoints = Keypoints::uniform;
  choose(options.keypoints, Keypoints::automatic, recipe.keypoints);
  choose(options.continuous_keypoints, 0,
         continuous_keypoints_for(preset.has_value(), calibrators, rows));
  choose(options.ensemble, 0, preset && rows < 5000 ? recipe.ensemble : 1);
  choose(options.trees, -1, 0);  // prepare() knows whether the table may decide
  choose(options.tree_leaves, 0, rows < 5000 ? 15 : rows < 200'000 ? 31 : 63);
  choose(options.tree_rate, 0.0, 0.1);
  choose(options.tree_share, -1.0, 0.5);
  choose(options.batch_size, 0, batch_size_for(rows, label));
  choose(options.epochs, 0, epochs_for(rows, options.batch_size, label.num_levels()));
  if (leaves_interactions_open(options.interactions)) options.interactions = {"none"};
  return SettledOptions(std::move(options));
}

Json deciding_options(const SettledOptions& options) {
  Json json = Json::parse(to_json(*options));
  json.erase("threads");
  return json;
}

}  // namespace espalier
