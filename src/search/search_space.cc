// SPDX-License-Identifier: Apache-2.0
#include "search/search_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/random.h"
#include "encode/pairs.h"
#include "espalier/error.h"
#include "model/builder.h"
#include "model/model_data.h"
#include "search/shape.h"
#include "train/crystal_search.h"
#include "train/presets.h"
#include "train/streams.h"

namespace espalier {

namespace {

using Strings = std::vector<std::string>;
using Dimensions = std::vector<Dimension>;

// How often a trial changes a setting that nobody asked to draw: the defaults are good, so draws
// stay near them.
constexpr double kChangeShare = 1.0 / 3;

bool contains(const Strings& list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

// A range as far as the setting allows it.
Dimension range_of(const char* name, double low, double high, bool logarithmic = true) {
  const Searchable& setting = find_searchable(name);
  const double least = setting.field.min;
  const auto fit = [&](double value) {
    return std::clamp(few_digits(setting.whole ? std::floor(value) : value), least,
                      setting.field.max);
  };
  return {.name = name,
          .low = fit(low),
          .high = fit(std::max(low, high)),
          .logarithmic = logarithmic,
          .whole = setting.whole};
}

Dimension around(const char* name, double value, double down, double up) {
  return range_of(name, value / down, value * up);
}

// Networks of affine pieces or units have no tables in [0, 1] that would bound a step: what rate
// they bear depends on size and columns, so three decades are searched.
Dimension rates_around(const SettledOptions& settled) {
  const Architecture architecture = parse_architecture(settled->architecture);
  const bool is_sensitive = std::ranges::any_of(architecture.layers, [](const LayerSpec& layer) {
    return layer.kind == LayerKind::minmax || layer.kind == LayerKind::relu;
  });
  const double times = is_sensitive ? 32 : 4;
  return around("learning_rate", settled->learning_rate, times, times);
}

// Ranges for what is known to matter. The settled defaults follow from the size of the table, so
// ranges around them do too; penalties and noise, which are off, begin where they are felt.
Dimensions default_ranges(const SettledOptions& settled, bool is_preset) {
  Dimensions ranges = {rates_around(settled),
                       around("batch_size", settled->batch_size, 4, 2),
                       settled->weight_decay > 0
                           ? around("weight_decay", settled->weight_decay, 10, 4)
                           : range_of("weight_decay", 0.01, 1),
                       settled->calibrator_hessian > 0
                           ? around("calibrator_hessian", settled->calibrator_hessian, 20, 20)
                           : range_of("calibrator_hessian", 0.0001, 0.1),
                       range_of("calibrator_laplacian", 0.00001, 0.01),
                       range_of("lattice_laplacian", 0.00001, 0.01),
                       range_of("lattice_torsion", 0.00001, 0.01),
                       range_of("lattice_noise", 0.01, 0.3)};
  // Averaged training stops by itself.
  if (settled->schedule != Schedule::averaged)
    ranges.push_back(around("epochs", settled->epochs, 2, 2));
  if (is_preset && settled->keypoints != Keypoints::uniform) {
    ranges.push_back(around("continuous_keypoints", settled->continuous_keypoints, 2, 4));
    ranges.push_back({.name = "keypoints", .words = {"distinct", "quantile"}});
  }
  return ranges;
}

// How many inputs a lattice may have: two more or less than it has.
Dimension near_size(const char* name, int size) {
  return range_of(name, std::max(2, size - 2), size + 2, false);
}

Dimensions default_sizes(const Architecture& architecture) {
  const Shape shape = shape_of(architecture);
  const bool ends_in_lattice = architecture.layers.back().kind == LayerKind::lat;
  Dimensions ranges;
  if (shape.lattices > 0)  // the inputs of the last lattice, if there is one
    ranges.push_back(ends_in_lattice ? near_size("lattices", shape.lattices)
                                     : around("lattices", shape.lattices, 3, 2));
  if (shape.lattice_size > 0) ranges.push_back(near_size("lattice_size", shape.lattice_size));
  if (shape.input_keypoints > 0)
    ranges.push_back(around("input_keypoints", shape.input_keypoints, 4, 2));
  if (shape.inner_keypoints > 0)
    ranges.push_back(around("inner_keypoints", shape.inner_keypoints, 4, 2));
  if (shape.monotone_share > 0 && shape.monotone_share < 1)
    ranges.push_back(range_of("monotone_share", 0.2, 0.8, false));
  return ranges;
}

// The size of that name, 0 if the layers have none; nothing if there is no size of that name.
std::optional<double> size_of(std::string_view name, const Architecture& architecture) {
  const Shape shape = shape_of(architecture);
  std::optional<double> size;
  visit_fields(shape, [&](const Field& field, const auto& value) {
    if (name == field.name) size = value;
  });
  return size;
}

bool is_size(std::string_view name) { return size_of(name, {}).has_value(); }

// Sizes that somebody has written are a choice. Of its own network the paper validated G x S.
bool is_free_size(std::string_view name, const std::string& architecture) {
  if (architecture == "dln-paper") return name == "lattices" || name == "lattice_size";
  return contains(preset_names(), architecture);
}

// Whether the layers have anything that a setting changes.
bool is_felt(std::string_view name, const Architecture& architecture) {
  const auto has = [&](LayerKind kind) {
    return std::ranges::find(architecture.layers, kind, &LayerSpec::kind) !=
           architecture.layers.end();
  };
  if (const auto size = size_of(name, architecture)) return *size > 0;
  if (name == "weight_decay") {
    return std::ranges::any_of(architecture.layers, [&](const LayerSpec& layer) {
      const bool is_last = &layer == &architecture.layers.back();
      return layer.kind == LayerKind::lin && layer.outputs != 1 && !is_last;
    });
  }
  if (name == "continuous_keypoints" || name == "keypoints") {
    const auto calibrators = input_calibrators(architecture);
    return calibrators && !calibrators->range;
  }
  if (name.starts_with("calibrator_")) return has(LayerKind::cal);
  if (name.starts_with("lattice_")) return has(LayerKind::lat);
  return true;
}

}  // namespace

SearchSpace::SearchSpace(const TrainOptions& base, const TuneOptions& tune, std::size_t rows,
                         const Schema& schema, Validation validation, Strings pairs)
    : base_(base), rows_(rows), schema_(schema), validation_(validation), pairs_(std::move(pairs)) {
  for (const std::string& name : tune.fix) find_searchable(name);
  add_asked(tune);
  add_defaults(tune);
  require_buildable(options_of(Json::object()));
  check_end("largest", &Dimension::high);
  check_end("smallest", &Dimension::low);
}

const Dimension* SearchSpace::find(std::string_view name) const {
  const auto found = std::ranges::find(dimensions_, name, &Dimension::name);
  return found == dimensions_.end() ? nullptr : &*found;
}

std::vector<std::string> SearchSpace::architectures() const {
  Strings all = {base_.architecture};
  if (const Dimension* drawn = find("architecture"))
    all.insert(all.end(), drawn->words.begin(), drawn->words.end());
  return all;
}

bool SearchSpace::matters(const Dimension& dimension, const std::string& architecture) const {
  if (!dimension.always && is_size(dimension.name) && !is_free_size(dimension.name, architecture))
    return false;
  return is_felt(dimension.name, parse_architecture(layers_of(architecture)));
}

bool SearchSpace::matters(const Dimension& dimension) const {
  return std::ranges::any_of(architectures(), [&](const std::string& architecture) {
    return matters(dimension, architecture);
  });
}

void SearchSpace::add_asked(const TuneOptions& tune) {
  for (const std::string& text : tune.search) {
    Dimension dimension = parse_dimension(text);
    dimension.always = true;
    if (find(dimension.name)) fail_search(fmt::format("{} has two ranges", dimension.name));
    if (validation_ == Validation::none && contains(dimension.words, "averaged"))
      fail_search(
          "schedule: averaged does not go with folds, which are evaluated by the last epoch");
    if (contains(tune.fix, dimension.name))
      fail_search(fmt::format("{} has a range and is in fix as well", dimension.name));
    dimensions_.push_back(std::move(dimension));
  }
  for (const Dimension& dimension : dimensions_) {
    if (matters(dimension)) continue;
    fail_search(fmt::format("{}: does nothing for the layers {}", dimension.name,
                            layers_of(base_.architecture)));
  }
}

void SearchSpace::add_defaults(const TuneOptions& tune) {
  const Json given = Json::parse(to_json(base_)), untouched = Json::parse(to_json({}));
  const auto add = [&](Dimension dimension) {
    const std::string& name = dimension.name;
    const bool is_given = given.contains(name) && given[name] != untouched[name];
    if (is_given || contains(tune.fix, name) || find(name) || !matters(dimension)) return;
    dimensions_.push_back(std::move(dimension));
  };
  const SettledOptions defaults = options_of(Json::object());
  std::ranges::for_each(default_ranges(defaults, is_preset(base_.architecture)), add);
  std::ranges::for_each(default_sizes(parse_architecture(defaults->architecture)), add);
  if (base_.architecture == TrainOptions().architecture)
    add({.name = "architecture", .words = {"dln", "random-lattices"}});
  if (!pairs_.empty()) add(range_of("pairs", 0, static_cast<double>(pairs_.size()), false));
}

void SearchSpace::require_buildable(const SettledOptions& options) const {
  Architecture architecture = parse_architecture(options->architecture);
  for (LayerSpec& layer : architecture.layers) {
    if (layer.wiring != Wiring::crystals) continue;
    require_places(layer, input_wires(schema_).size());
    layer.wiring = Wiring::random;  // whatever wires the search chooses, the sizes are the same
  }
  build_layers(architecture, input_wires(schema_), options->monotone_calibrators, Random(0), {},
               score_wires(schema_.label));
}

void SearchSpace::check_end(const char* which, double Dimension::*end) const {
  Json settings = Json::object();
  for (const Dimension& dimension : dimensions_) {
    if (dimension.words.empty()) settings[dimension.name] = number_of(dimension, dimension.*end);
  }
  for (const std::string& architecture : architectures()) {
    settings["architecture"] = architecture;
    try {
      require_buildable(options_of(felt(settings)));
    } catch (const Error& error) {
      fail_search(
          fmt::format("the {} network of these ranges cannot be built: {}", which, error.what()));
    }
  }
}

// The settings without those that do nothing for the layers that they choose.
Json SearchSpace::felt(Json settings) const {
  const Json* const drawn = settings.find("architecture");
  const std::string architecture = drawn ? drawn->string() : base_.architecture;
  for (const Dimension& dimension : dimensions_) {
    if (!matters(dimension, architecture)) settings.erase(dimension.name);
  }
  return settings;
}

Json SearchSpace::draw(int trial) const {
  Json settings = Json::object();
  if (trial == 1) return settings;
  Random random = Random(base_.seed).split(kTrialStream).split(static_cast<std::uint64_t>(trial));
  for (const Dimension& dimension : dimensions_) {
    const bool changes = random.uniform() < kChangeShare;
    Json value = draw_from(dimension, random);
    if (changes || dimension.always) settings[dimension.name] = std::move(value);
  }
  return felt(std::move(settings));
}

SettledOptions SearchSpace::settled(TrainOptions options) const {
  return settle(std::move(options), schema_.label, schema_.features, rows_, validation_);
}

// All but the sizes of layers.
SettledOptions SearchSpace::with_base_sizes(Json settings) const {
  TrainOptions options = base_;
  if (const Json* const pairs = settings.find("pairs")) {
    options.interactions = first_pairs(pairs->get<std::size_t>());
    settings.erase("pairs");
  }
  apply_json(options, settings.dump(), "search");
  return settled(std::move(options));
}

std::string SearchSpace::architecture_of(const Json& settings) const {
  const Json* const drawn = settings.find("architecture");
  return drawn ? drawn->string() : base_.architecture;
}

Strings SearchSpace::first_pairs(std::size_t count) const {
  const auto end = static_cast<std::ptrdiff_t>(std::min(count, pairs_.size()));
  if (end == 0) return {"none"};
  return {pairs_.begin(), pairs_.begin() + end};
}

SettledOptions SearchSpace::options_of(const Json& settings) const {
  Json plain = settings;
  Shape shape;
  bool has_shape = false;
  visit_fields(shape, [&](const Field& field, auto& value) {
    const Json* const found = plain.find(field.name);
    if (!found) return;
    value = found->get<std::remove_reference_t<decltype(value)>>();
    plain.erase(field.name);
    has_shape = true;
  });
  // The layers too: a fold has fewer rows than the final model, but must train the same network.
  const SettledOptions plain_sizes = with_base_sizes(plain);
  if (!has_shape) return plain_sizes;
  TrainOptions reshaped = *plain_sizes;
  reshaped.architecture = to_string(reshape(parse_architecture(plain_sizes->architecture), shape,
                                            static_cast<int>(schema_.features.size())));
  // Layers that somebody has written take as many keypoints as they now have.
  if (!is_preset(architecture_of(settings))) {
    const Json* const keypoints = settings.find("continuous_keypoints");
    reshaped.continuous_keypoints =
        keypoints ? Auto<int>(keypoints->get<int>()) : base_.continuous_keypoints;
  }
  return settled(std::move(reshaped));
}

int SearchSpace::most_networks(const Json& settings) const {
  const auto preset =
      find_preset(architecture_of(settings), rows_, schema_.features, schema_.label);
  return preset ? preset->recipe.ensemble : 1;
}

std::string SearchSpace::layers_of(const std::string& architecture) const {
  TrainOptions options = base_;
  options.architecture = architecture;
  return settled(std::move(options))->architecture;
}

}  // namespace espalier
