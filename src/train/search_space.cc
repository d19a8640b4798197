// SPDX-License-Identifier: Apache-2.0
#include "train/search_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/random.h"
#include "espalier/error.h"
#include "model/builder.h"
#include "model/model_data.h"
#include "train/presets.h"
#include "train/shape.h"
#include "train/streams.h"

namespace espalier {

namespace {

using Strings = std::vector<std::string>;

// How often a trial changes a setting that nobody asked to draw: the defaults are good, so draws
// stay near them.
constexpr double kChangeShare = 1.0 / 3;

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorKind::argument, "search: " + message);
}

// A logarithmic range around a value, as far as the setting allows.
std::string around(const char* name, double value, double down, double up) {
  const Searchable& setting = find_searchable(name);
  const double least = setting.whole ? std::max(1.0, setting.field.min) : setting.field.min;
  double low = std::max(value / down, least), high = std::min(value * up, setting.field.max);
  if (setting.whole) {
    low = std::floor(low);
    high = std::max(low, std::floor(high));
  }
  return fmt::format("{}={}:{}:log", name, rounded(low), rounded(high));
}

// Ranges for what is known to matter. The settled defaults follow from the size of the table, so
// ranges around them do too; penalties and noise, which are off, begin where they are felt.
Strings default_ranges(const TrainOptions& settled) {
  Strings ranges = {around("learning_rate", settled.learning_rate, 4, 4),
                    around("epochs", settled.epochs, 2, 2),
                    around("batch_size", settled.batch_size, 4, 2),
                    settled.weight_decay > 0 ? around("weight_decay", settled.weight_decay, 10, 4)
                                             : "weight_decay=0.01:1:log",
                    "calibrator_hessian=0.0001:0.1:log",
                    "calibrator_laplacian=0.00001:0.01:log"};
  const Architecture architecture = parse_architecture(settled.architecture);
  const auto is_lattice = [](const LayerSpec& layer) { return layer.kind == LayerKind::lat; };
  if (std::ranges::any_of(architecture.layers, is_lattice)) {
    ranges.insert(ranges.end(), {"lattice_laplacian=0.00001:0.01:log",
                                 "lattice_torsion=0.00001:0.01:log", "lattice_noise=0.01:0.3:log"});
  }
  return ranges;
}

Strings default_shapes(const TrainOptions& settled) {
  const Shape shape = shape_of(parse_architecture(settled.architecture));
  Strings ranges;
  if (settled.continuous_keypoints > 0)
    ranges.push_back(around("continuous_keypoints", settled.continuous_keypoints, 2, 4));
  if (shape.lattices > 0) {
    ranges.push_back(around("lattices", shape.lattices, 3, 2));
    ranges.push_back(fmt::format("lattice_size={}:{}", std::max(2, shape.lattice_size - 2),
                                 std::min(kMaxLatticeSize, shape.lattice_size + 2)));
  }
  if (shape.input_keypoints > 0)
    ranges.push_back(around("input_keypoints", shape.input_keypoints, 4, 2));
  if (shape.inner_keypoints > 0)
    ranges.push_back(around("inner_keypoints", shape.inner_keypoints, 4, 2));
  if (shape.monotone_share > 0) ranges.push_back("monotone_share=0.2:0.8");
  return ranges;
}

// The names of the sizes that these layers do not have.
Strings absent_sizes(const std::string& architecture) {
  const Shape shape = shape_of(parse_architecture(architecture));
  Strings names;
  visit_fields(shape, [&](const Field& field, const auto& value) {
    if (value == 0) names.emplace_back(field.name);
  });
  return names;
}

}  // namespace

SearchSpace::SearchSpace(const TrainOptions& base, const TuneOptions& tune, std::size_t rows,
                         const Schema& schema)
    : base_(base), rows_(rows), schema_(schema) {
  for (const std::string& name : tune.fix) find_searchable(name);
  add_asked(tune);
  add_defaults(tune);
  check_largest();
}

bool SearchSpace::has(std::string_view name) const {
  return std::ranges::find(dimensions_, name, &Dimension::name) != dimensions_.end();
}

void SearchSpace::add_asked(const TuneOptions& tune) {
  const std::string architecture = layers_of(base_);
  const Strings absent = absent_sizes(architecture);
  for (const std::string& text : tune.search) {
    Dimension dimension = parse_dimension(text);
    dimension.always = true;
    if (has(dimension.name)) fail(fmt::format("{} has two ranges", dimension.name));
    if (std::ranges::find(tune.fix, dimension.name) != tune.fix.end())
      fail(fmt::format("{} has a range and is in fix as well", dimension.name));
    if (std::ranges::find(absent, dimension.name) != absent.end()) {
      fail(fmt::format("{}: the layers {} have no such size", dimension.name, architecture));
    }
    dimensions_.push_back(std::move(dimension));
  }
}

void SearchSpace::add_defaults(const TuneOptions& tune) {
  TrainOptions settled = base_;
  resolve_options(rows_, schema_.features, settled);
  Strings ranges = default_ranges(settled);
  // The sizes of written layers are somebody's choice, and dln-paper is one network.
  const bool has_free_shape =
      settled.architecture != base_.architecture && !base_.architecture.starts_with("dln-paper");
  if (has_free_shape) std::ranges::move(default_shapes(settled), std::back_inserter(ranges));
  if (base_.architecture == TrainOptions().architecture)
    ranges.push_back("architecture=dln:random-lattices");
  const Json given = Json::parse(to_json(base_)), untouched = Json::parse(to_json({}));
  for (const std::string& text : ranges) {
    Dimension dimension = parse_dimension(text);
    const std::string& name = dimension.name;
    const bool is_given = given.contains(name) && given[name] != untouched[name];
    const bool is_fixed = std::ranges::find(tune.fix, name) != tune.fix.end();
    if (!is_given && !is_fixed && !has(name)) dimensions_.push_back(std::move(dimension));
  }
}

void SearchSpace::require_buildable(const TrainOptions& options) const {
  Architecture architecture = parse_architecture(layers_of(options));
  // Whatever wires a search would choose, the sizes are the same.
  for (LayerSpec& layer : architecture.layers) layer.wiring = Wiring::random;
  build_layers(architecture, input_wires(schema_), options.monotone_calibrators, Random(0));
}

void SearchSpace::check_largest() const {
  require_buildable(base_);
  Json largest = Json::object();
  Strings architectures = {base_.architecture};
  for (const Dimension& dimension : dimensions_) {
    if (dimension.name == "architecture") architectures = dimension.words;
    if (!dimension.words.empty()) continue;
    if (dimension.whole)
      largest[dimension.name] = static_cast<std::int64_t>(dimension.high);
    else
      largest[dimension.name] = dimension.high;
  }
  for (const std::string& architecture : architectures) {
    largest["architecture"] = architecture;
    try {
      require_buildable(options_of(largest));
    } catch (const Error& error) {
      fail(fmt::format("the largest network of these ranges cannot be built: {}", error.what()));
    }
  }
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
  // The architecture may be drawn, and not every one has every size.
  for (const std::string& name : absent_sizes(layers_of(options_of(settings))))
    settings.erase(name);
  return settings;
}

TrainOptions SearchSpace::options_of(const Json& settings) const {
  Json plain = settings;
  Shape shape;
  bool has_shape = false;
  visit_fields(shape, [&](const Field& field, auto& value) {
    const auto found = plain.find(field.name);
    if (found == plain.end()) return;
    value = found->get<std::remove_reference_t<decltype(value)>>();
    plain.erase(found);
    has_shape = true;
  });
  TrainOptions options = base_;
  apply_json(options, plain.dump(), "search");
  TrainOptions settled = options;
  resolve_options(rows_, schema_.features, settled);
  // A preset stays a name, since some settle more than their layers.
  if (!has_shape) {
    settled.architecture = options.architecture;
    return settled;
  }
  settled.architecture = to_string(reshape(parse_architecture(settled.architecture), shape,
                                           static_cast<int>(schema_.features.size())));
  return settled;
}

std::string SearchSpace::layers_of(TrainOptions options) const {
  resolve_options(rows_, schema_.features, options);
  return options.architecture;
}

}  // namespace espalier
