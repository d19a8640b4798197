// SPDX-License-Identifier: Apache-2.0
#include "train/presets.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/text.h"
#include "espalier/architecture.h"
#include "espalier/error.h"
#include "model/builder.h"
#include "train/policy.h"

namespace espalier {

namespace {

[[noreturn]] void fail_architecture(std::string_view text, std::string_view wanted) {
  throw Error(ErrorKind::argument, fmt::format("architecture: '{}': {}", text, wanted));
}

// What a preset is made from. groups and group_size are 0 unless it was written as name(GxS).
struct Request {
  std::size_t rows;
  int num_wires;  // features, and the level of labels that have levels
  int num_monotone;
  int num_outputs;
  int groups = 0;
  int group_size = 0;
};

// The size of lattices: as written, else as the rows can feed.
NetworkSize size_for(const Request& request) {
  NetworkSize size = network_size(request.rows);
  if (request.groups > 0) {
    size.lattices = request.groups;
    size.lattice_size = request.group_size;
  }
  return size;
}

// Monotone rows of the embedding read all wires, so there may be more of them than monotone
// features; the others read free wires, if there are any.
int monotone_rows(int rows, const Request& request) {
  constexpr double kLeastShare = 0.3, kMaxShare = 0.7;
  if (request.num_monotone == 0) return 0;
  if (request.num_monotone == request.num_wires) return rows;
  const double share = static_cast<double>(request.num_monotone) / request.num_wires;
  return std::max(1, static_cast<int>(std::clamp(share, kLeastShare, kMaxShare) * rows));
}

// Calibrators, the embedding into the inputs of the lattices, calibrators, lattices.
std::string lattices_on_an_embedding(const NetworkSize& size, const Request& request) {
  const int rows = size.lattices * size.lattice_size;
  const LayerSpec embedding = {
      .kind = LayerKind::lin, .outputs = rows, .monotone_outputs = monotone_rows(rows, request)};
  return fmt::format("cal({}) {} cal({}) lat({}x{})", size.input_keypoints, to_string(embedding),
                     size.inner_keypoints, size.lattices, size.lattice_size);
}

// The paper's Cal-Lin-Cal-EnsLat-Cal-Lin.
std::string deep_lattice_network(const Request& request) {
  NetworkSize size = size_for(request);
  if (request.groups == 0) {
    size.lattices = std::min(size.lattices, kDlnLattices);
    size.lattice_size = std::min(size.lattice_size, kDlnLatticeSize);
  }
  return fmt::format("{} cal({}) lin({})", lattices_on_an_embedding(size, request),
                     size.inner_keypoints, request.num_outputs);
}

// The paper's Cal-Lin-Cal-EnsLat-Cal-Lat: a lattice over all lattices closes the network.
std::string lattice_of_lattices(const Request& request) {
  NetworkSize size = size_for(request);
  if (request.groups == 0) size.lattices = 8;
  return fmt::format("{} cal({}) lat", lattices_on_an_embedding(size, request),
                     size.inner_keypoints);
}

// The paper's Cal-Lin-Cal-Lat.
std::string one_deep_lattice(const Request& request) {
  NetworkSize size = size_for(request);
  if (request.groups == 0) size.lattices = 1, size.lattice_size = 8;
  if (size.lattices != 1)
    fail_architecture(fmt::format("dln-one-lattice({}x{})", size.lattices, size.lattice_size),
                      "wanted one lattice: dln-one-lattice(1xS)");
  return lattices_on_an_embedding(size, request);
}

// The paper's ranges and its split embedding. Its [-100, 100] is that of the calibrators inside; on
// raw columns it would cut amounts off, so input calibrators span their column's own range, as
// "maps [x_min, x_max] to [0, 1]" says.
std::string paper_network(const Request& request) {
  constexpr const char* kCalibrators = "cal(100,-100:100)";
  const int groups = request.groups > 0 ? request.groups : 70;
  const int size = request.groups > 0 ? request.group_size : 5;
  return fmt::format("cal(100) lin({1},split) {0} lat({2}x{3}) {0} lin({4})", kCalibrators,
                     groups * size, groups, size, request.num_outputs);
}

std::string calibrated_linear(const Request& request) {
  return fmt::format("cal({}) lin({})", size_for(request).input_keypoints, request.num_outputs);
}

std::string calibrated_lattice(const Request& request) {
  // More than this in one lattice is slow to train and rarely fed by the rows.
  constexpr int kMax = 12;
  if (request.num_wires > kMax) {
    throw Error(ErrorKind::argument,
                fmt::format("architecture: calibrated-lattice puts all columns into one lattice; "
                            "{} are too many, at "
                            "most {}; wanted fewer columns (--drop) or random-lattices",
                            request.num_wires, kMax));
  }
  return fmt::format("cal({}) lat", size_for(request).input_keypoints);
}

// For lattices that read columns: at least twice as many places as columns, so that each meets
// several others.
NetworkSize size_for_columns(const Request& request) {
  NetworkSize size = size_for(request);
  if (request.groups > 0) return size;
  size.lattice_size = std::min(size.lattice_size, request.num_wires);
  size.lattices = std::max(size.lattices, 2 * request.num_wires / size.lattice_size + 1);
  return size;
}

std::string random_lattices(const Request& request) {
  const NetworkSize size = size_for_columns(request);
  return fmt::format("cal({0}) gather({1}x{2}) lat({1}x{2}) lin({3})", size.input_keypoints,
                     size.lattices, size.lattice_size, request.num_outputs);
}

// A calibrator of its own for every input of every lattice, as the paper counts them, but with more
// than its 10 keypoints where the rows feed them: that lowers the validation loss on Adult by 2 %.
std::string crystals(const Request& request) {
  const NetworkSize size = size_for_columns(request);
  return fmt::format("gather({0}x{1},crystals) cal({2}) lat({0}x{1}) sum", size.lattices,
                     size.lattice_size, size.input_keypoints);
}

// A curve for every column before what the paper builds without.
template <std::string (*make)(const Request&)>
std::string with_calibrators(const Request& request) {
  return fmt::format("cal({}) {}", network_size(request.rows).input_keypoints, make(request));
}

// Every affine piece reads all inputs, with weights >= 0 on the monotone ones.
std::string min_max_network(const Request& request) {
  const NetworkSize size = size_for(request);
  const int pieces = size.lattices * size.lattice_size;
  return fmt::format("lin({0},monotone={0}) minmax({1}x{2})", pieces, size.lattices,
                     size.lattice_size);
}

constexpr int kHiddenLayers = 2, kHiddenUnits = 50;

// G hidden layers of S units.
std::string monotonic_dnn(const Request& request) {
  constexpr int kMaxLayers = 1000;
  const int layers = request.groups > 0 ? request.groups : kHiddenLayers;
  const int units = request.groups > 0 ? request.group_size : kHiddenUnits;
  if (layers > kMaxLayers)
    fail_architecture(fmt::format("monotonic-dnn({}x{})", layers, units),
                      fmt::format("at most {} layers are allowed", kMaxLayers));
  std::string text;
  for (int i = 0; i < layers; ++i) text += fmt::format("lin({0},monotone={0}) relu ", units);
  return text + fmt::format("lin({})", request.num_outputs);
}

constexpr Recipe kOurs;
constexpr Recipe kDeep = {.asks_the_data = true};
constexpr Recipe kRelu = {.weight_decay = 0, .rate = 0.02};
// A row moves one piece of the many.
constexpr Recipe kMinMax = {.weight_decay = 0, .rate = 0.08};
constexpr Recipe kPaper = {.initialization = Initialization::paper,
                           .projection = Projection::admm,
                           .keypoints = Keypoints::uniform,
                           .schedule = Schedule::constant,
                           .weight_decay = 0,
                           .adam_epsilon = 1e-8,
                           .calibrator_hessian = 0,
                           .ensemble = 1,
                           .rate = 0.003,
                           .epochs = 25};

struct Kind {
  std::string_view name;
  bool takes_size;  // name(GxS)
  std::string (*make)(const Request&);
  const Recipe& recipe;
};

constexpr Kind kKinds[] = {
    {"dln", true, deep_lattice_network, kDeep},
    {"dln-paper", true, paper_network, kPaper},
    {"dln-lattice", true, lattice_of_lattices, kDeep},
    {"dln-one-lattice", true, one_deep_lattice, kDeep},
    {"calibrated-linear", false, calibrated_linear, kOurs},
    {"calibrated-lattice", false, calibrated_lattice, kOurs},
    {"random-lattices", true, random_lattices, kOurs},
    {"crystals", true, crystals, kOurs},
    {"min-max", true, min_max_network, kMinMax},
    {"min-max-calibrated", true, with_calibrators<min_max_network>, kMinMax},
    {"monotonic-dnn", true, monotonic_dnn, kRelu},
    {"monotonic-dnn-calibrated", true, with_calibrators<monotonic_dnn>, kRelu},
};

// The size of "name(GxS)".
LayerSpec size_in(const Kind& kind, std::string_view text) {
  const std::string wanted =
      kind.takes_size
          ? fmt::format("wanted {0} or {0}(GxS), G and S whole numbers from 1, G S at most {1}",
                        kind.name, kMaxWires)
          : fmt::format("wanted {}", kind.name);
  if (!kind.takes_size || text.back() != ')') fail_architecture(text, wanted);
  try {  // a layer that is written the same way
    const Architecture read =
        parse_architecture(fmt::format("minmax{}", text.substr(kind.name.size())));
    const LayerSpec& size = read.layers.front();
    if (read.layers.size() == 1 && size.groups <= kMaxWires / size.group_size) return size;
  } catch (const Error&) {
  }
  fail_architecture(text, wanted);
}

const Kind* find_kind(std::string_view text) {
  const auto name = text.substr(0, text.find('('));
  const auto found = std::ranges::find(kKinds, name, &Kind::name);
  return found == std::end(kKinds) ? nullptr : &*found;
}

// One word that is neither a preset nor a layer is a preset misspelt.
void require_known(const std::string& text) {
  const auto is_layer = [&] { return from_word<LayerKind>(text.substr(0, text.find('('))); };
  if (text.empty() || text.find(' ') != text.npos || is_layer()) return;
  const auto guess = nearest(text, preset_names());
  fail_architecture(text, fmt::format("no layer or preset of that name{}; presets are {}",
                                      guess ? fmt::format(", did you mean '{}'?", *guess) : "",
                                      fmt::join(preset_names(), ", ")));
}

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

bool is_preset(std::string_view text) { return find_kind(text) != nullptr; }

bool asks_the_data(std::string_view architecture) {
  const Kind* kind = find_kind(architecture);
  return kind != nullptr && kind->recipe.asks_the_data;
}

std::optional<Preset> find_preset(const std::string& text, std::size_t rows,
                                  const std::vector<Feature>& features, const Label& label) {
  const Kind* kind = find_kind(text);
  if (kind == nullptr) {
    require_known(text);
    return std::nullopt;
  }
  const int levels = label.num_levels() > 1 ? 1 : 0;
  const auto is_monotone = [](const Feature& feature) {
    return feature.monotonicity != Monotonicity::none;
  };
  Request request{
      .rows = rows,
      .num_wires = static_cast<int>(features.size()) + levels,
      .num_monotone = static_cast<int>(std::ranges::count_if(features, is_monotone)) + levels,
      .num_outputs = static_cast<int>(label.num_outputs())};
  if (text != kind->name) {
    const LayerSpec size = size_in(*kind, text);
    request.groups = size.groups;
    request.group_size = size.group_size;
  }
  return Preset{kind->make(request), kind->recipe};
}

}  // namespace espalier
