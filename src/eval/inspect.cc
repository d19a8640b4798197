// SPDX-License-Identifier: Apache-2.0
// Printers of an Anatomy: a page for people, JSON for programs.
#include "espalier/inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/default_floats.h"
#include "encode/pairs.h"
#include "encode/promises.h"
#include "espalier/anatomy.h"
#include "espalier/json.h"
#include "espalier/predictor.h"
#include "espalier/text.h"
#include "eval/surface.h"
#include "model/model_data.h"

namespace espalier {

namespace {

std::vector<float> list(std::span<const float> values) { return {values.begin(), values.end()}; }

Json to_json(const Curve& curve, const LayerAnatomy& layer) {
  Json json = {{"wire", layer.inputs[curve.wire].name}, {"rises", curve.rises}};
  if (!curve.categories.empty())
    json["words"] = std::vector<std::string>(curve.categories.begin(), curve.categories.end());
  if (curve.missing) json["missing"] = *curve.missing;
  if (!curve.inputs.empty()) json["inputs"] = curve.inputs;
  json["outputs"] = curve.outputs;
  return json;
}

Json to_json(const PairTable& table, const LayerAnatomy& layer) {
  const NamedWire& wire = layer.inputs[table.wire];
  return {
      {"wire", wire.name},
      {"rises", Json::array({table.rises[0], table.rises[1]})},
      {"sizes", Json::array({wire.pair->first.vertices.size(), wire.pair->second.vertices.size()})},
      {"values", list(table.values)}};
}

Json to_json(const LatticeTable& lattice, Interpolation interpolation, const LayerAnatomy& layer) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < lattice.sizes.size(); ++d)
    names.push_back(layer.inputs[lattice.first_wire + d].name);
  return {{"wires", names},
          {"rises", lattice.rises},
          {"interpolation", to_word(interpolation)},
          {"vertices", list(lattice.vertices)}};
}

// A question is [wire, number], a leaf its value.
Json to_json(const TreeTable& tree, const LayerAnatomy& layer) {
  Json nodes = Json::array();
  auto leaf = tree.leaves.begin();
  for (const TreeNode& node : tree.nodes) {
    if (node.is_leaf()) {
      nodes.push_back(*leaf++);
    } else {
      nodes.push_back(
          Json::array({layer.inputs[static_cast<std::size_t>(node.wire)].name, node.above}));
    }
  }
  return nodes;
}

// A split has its test, then where rows go that pass it to the left and to the right: "splits" of
// the same tree and "leaves" are counted from 0, leaf n as -1 - n. Without a threshold all values
// go right.
Json to_json(const SplitParts& split, const Schema& schema) {
  Json json = Json::object();
  if (split.feature == schema.features.size()) {
    json["feature"] = nullptr;
    json["threshold"] = split.threshold;
  } else {
    const Feature& feature = schema.features[split.feature];
    json["feature"] = feature.name;
    if (feature.kind == FeatureKind::category) {
      Json words = Json::array();
      for (std::size_t code = 0; code + 1 < split.categories_right.size(); ++code)
        if (split.categories_right[code]) words.push_back(feature.categories[code]);
      json["categories_right"] = words;
      json["unseen_right"] = static_cast<bool>(split.categories_right.back());
    } else {
      json["threshold"] = std::isinf(split.threshold) ? Json() : Json(split.threshold);
      json["missing_right"] = split.missing_right;
    }
  }
  json["left"] = split.left;
  json["right"] = split.right;
  return json;
}

Json to_json(const ForestAnatomy& forest, const Schema& schema) {
  Json trees = Json::array();
  for (const TreeAnatomy& tree : forest.trees) {
    Json splits = Json::array();
    for (const SplitParts& split : tree.splits) splits.push_back(to_json(split, schema));
    trees.push_back({{"splits", splits}, {"leaves", list(tree.leaves)}});
  }
  return {{"weight", forest.weight}, {"leaf_orders", forest.num_leaf_orders}, {"trees", trees}};
}

// Adds the parts of a layer to its JSON, a function for each kind; those without numbers add
// nothing.
struct PartsToJson {
  const LayerAnatomy& layer;
  Json& json;

  void operator()(const CalibratorParts& parts) const {
    Json& curves = json["calibrators"] = Json::array();
    for (const Curve& curve : parts.curves) curves.push_back(to_json(curve, layer));
    for (const PairTable& table : parts.tables) json["tables"].push_back(to_json(table, layer));
  }
  void operator()(const EmbeddingParts& parts) const {
    Json inputs = Json::array();
    for (std::size_t j = 0; j < parts.inputs.size(); ++j) {
      const InputWeights& input = parts.inputs[j];
      inputs.push_back({{"wire", layer.inputs[j].name},
                        {"first_output", input.first_output},
                        {"outputs", input.num_outputs},
                        {"weights", list(input.weights)}});
    }
    json["linear"] = {{"inputs", inputs}, {"bias", list(parts.bias)}};
  }
  void operator()(const LatticeParts& parts) const {
    Json& lattices = json["lattices"] = Json::array();
    for (const LatticeTable& lattice : parts.lattices)
      lattices.push_back(to_json(lattice, parts.interpolation, layer));
  }
  void operator()(const GatherParts& parts) const {
    json["wires"] = std::vector<int>(parts.wires.begin(), parts.wires.end());
  }
  void operator()(const SumParts&) const {}
  void operator()(const MinMaxParts&) const {}
  void operator()(const ReluParts&) const {}
  void operator()(const TreeParts& parts) const {
    Json& trees = json["trees"] = Json::array();
    for (const TreeTable& tree : parts.trees) trees.push_back(to_json(tree, layer));
  }
};

Json to_json(const LayerAnatomy& layer) {
  Json json = {{"layer", layer.name},
               {"inputs", layer.inputs.size()},
               {"outputs", layer.num_outputs},
               {"monotone_outputs", layer.num_monotone_outputs},
               {"parameters", layer.num_parameters}};
  std::visit(PartsToJson{layer, json}, layer.parts);
  return json;
}

Json to_json(const Feature& feature) {
  Json json = {{"name", feature.name},
               {"kind", to_word(feature.kind)},
               {"monotonicity", to_word(feature.monotonicity)}};
  if (!feature.categories.empty()) json["words"] = feature.categories;
  if (feature.kind != FeatureKind::category) {
    json["keypoints"] = feature.keypoints.size();
    json["learns_missing"] = feature.learns_missing;
    json["typical"] = feature.typical;
  }
  if (!feature.missing.empty()) json["missing"] = feature.missing;
  if (!feature.not_missing.empty()) json["not_missing"] = feature.not_missing;
  return json;
}

const char* kind_of(const Pair& pair) { return pair.is_grid() ? "table" : "crossed"; }

// Codes of a crossed category, vertices of a table.
std::size_t num_values(const Pair& pair) {
  return pair.is_grid() ? pair.first.vertices.size() * pair.second.vertices.size()
                        : pair.shares.size();
}

Json to_json(const Pair& pair, const Schema& schema, const Surface& surface) {
  Json scores = Json::array();
  const auto width = static_cast<std::ptrdiff_t>(surface.second.size());
  for (auto row = surface.scores.begin(); row != surface.scores.end(); row += width)
    scores.push_back(std::vector<float>(row, row + width));
  return {{"columns", Json::array({schema.features[pair.first.feature].name,
                                   schema.features[pair.second.feature].name})},
          {"kind", kind_of(pair)},
          {"cells", Json::array({Json(surface.first), Json(surface.second)})},
          {"codes", num_values(pair)},
          {"scores", scores},
          {"strength", surface.strength}};
}

// The pairs of features, if there are any.
void append_pairs(const Model& model, std::string& out) {
  const Schema& schema = model.schema();
  if (schema.pairs.empty()) return;
  const Predictor predictor(model);
  out += fmt::format("\n{:<40} {:<8} {:<10} {:<8} {}\n", "pair", "kind", "cells", "values",
                     "strength");
  for (const Pair& pair : schema.pairs) {
    const Surface surface = surface_of(predictor, pair);
    out += fmt::format("{:<40} {:<8} {:<10} {:<8} {:.3g}\n", escape_controls(name_of(pair, schema)),
                       kind_of(pair),
                       fmt::format("{} x {}", surface.first.size(), surface.second.size()),
                       num_values(pair), surface.strength);
  }
}

// What the prediction never does when a feature rises, or those of some classes: "a falls, b
// rises".
std::string promise_text(const Schema& schema, const Feature& feature) {
  if (feature.monotonicity == Monotonicity::none) return "free";
  std::string text;
  for (std::size_t c = 0; c < schema.label.promises.size(); ++c) {
    const Monotonicity promise = promise_of(schema, c, feature);
    if (promise == Monotonicity::none) continue;
    text += fmt::format("{}{} never {}", text.empty() ? "" : ", ",
                        escape_controls(schema.label.classes[c]),
                        promise == Monotonicity::increasing ? "falls" : "rises");
  }
  if (!text.empty()) return text;
  return feature.monotonicity == Monotonicity::increasing ? "never falls" : "never rises";
}

// The features and what the prediction does along each.
void append_features(const Schema& schema, std::string& out) {
  out += fmt::format("\n{:<28} {:<10} {:<12} {}\n", "feature", "kind", "prediction", "values");
  for (const Feature& feature : schema.features) {
    const std::string values = feature.kind == FeatureKind::category
                                   ? fmt::format("{} categories", feature.categories.size())
                                   : fmt::format("{} keypoints{}", feature.keypoints.size(),
                                                 feature.learns_missing ? ", missing learned" : "");
    out += fmt::format("{:<28} {:<10} {:<12} {}\n", escape_controls(feature.name),
                       to_word(feature.kind), promise_text(schema, feature), values);
  }
}

void append_layers(const NetworkAnatomy& network, std::string& out) {
  out += fmt::format("\n{:<5} {:<30} {:>8} {:>8} {:>9} {:>11}\n", "layer", "", "inputs", "outputs",
                     "monotone", "parameters");
  int index = 0;
  for (const LayerAnatomy& layer : network.layers) {
    out += fmt::format("{:<5} {:<30} {:>8} {:>8} {:>9} {:>11}\n", ++index, layer.name,
                       layer.inputs.size(), layer.num_outputs, layer.num_monotone_outputs,
                       layer.num_parameters);
  }
}

// At most `most` entries of a curve, evenly spread, first and last among them.
std::string curve_text(const Curve& curve, std::size_t most) {
  std::string text;
  const std::size_t n = curve.outputs.size(), shown = std::min(n, most);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t k = shown > 1 ? i * (n - 1) / (shown - 1) : 0;
    const std::string in = curve.categories.empty() ? fmt::format("{:.6g}", curve.inputs[k])
                                                    : escape_controls(curve.categories[k]);
    text += fmt::format("{}{} -> {:.3f}", i > 0 ? ", " : "", in.empty() ? "(missing)" : in,
                        curve.outputs[k]);
  }
  if (curve.missing) text += fmt::format(", (missing) -> {:.3f}", *curve.missing);
  return text;
}

// Those of the first calibrators, which read the table.
void append_curves(const NetworkAnatomy& network, std::string& out) {
  constexpr std::size_t kShown = 8;
  for (const LayerAnatomy& layer : network.layers) {
    const auto* parts = std::get_if<CalibratorParts>(&layer.parts);
    if (parts == nullptr) continue;
    out += "\ncalibrators of the inputs (--json has every keypoint)\n";
    for (const Curve& curve : parts->curves)
      out += fmt::format("  {}: {}\n", escape_controls(layer.inputs[curve.wire].name),
                         curve_text(curve, kShown));
    return;
  }
}

// Which wires the lattices read; beyond a few that is a matter for programs.
void append_wiring(const NetworkAnatomy& network, std::string& out) {
  constexpr std::size_t kShown = 6;
  int index = 0;
  for (const LayerAnatomy& layer : network.layers) {
    ++index;
    const auto* parts = std::get_if<LatticeParts>(&layer.parts);
    if (parts == nullptr) continue;
    const std::vector<LatticeTable>& lattices = parts->lattices;
    out += fmt::format("\nwiring of layer {}, a + where a lattice must rise{}\n", index,
                       lattices.size() > kShown
                           ? fmt::format(" (the first {} of {})", kShown, lattices.size())
                           : "");
    for (std::size_t g = 0; g < std::min(kShown, lattices.size()); ++g) {
      std::string wires;
      for (std::size_t d = 0; d < lattices[g].sizes.size(); ++d) {
        wires +=
            fmt::format(" {}{}", escape_controls(layer.inputs[lattices[g].first_wire + d].name),
                        lattices[g].rises[d] ? "+" : "");
      }
      out += fmt::format("  lattice {}:{}\n", g, wires);
    }
  }
}

// A number of the training record, which nobody checks when a model is loaded.
std::size_t count_of(const Json& training, const char* key) {
  const Json* const found = training.find(key);
  return found && found->is_whole() && found->get<double>() >= 0 ? found->get<std::size_t>() : 0;
}

// "networks      2, averaged" and "trees         310, 0.4 of the mean; 4319 orders between leaves"
std::string members_text(const Model& model, const Anatomy& opened) {
  const auto [networks, trees] = count_members(model.data());
  std::string out;
  if (networks > 1) out += fmt::format("networks      {}, averaged\n", networks);
  if (trees == 0) return out;
  const Json training = Json::parse(model.training_json());
  const Json* const options = training.find("options");
  const Json* const share = options && options->is_object() ? options->find("tree_share") : nullptr;
  out += fmt::format("trees         {}", trees);
  if (share && share->is_number()) out += fmt::format(", {} of the mean", share->get<double>());
  std::size_t orders = 0;
  for (const ForestAnatomy& forest : opened.forests) orders += forest.num_leaf_orders;
  if (orders > 0) out += fmt::format("; {} orders between leaves", orders);
  return out + "\n";
}

void append_training(const Model& model, std::string& out) {
  const Json training = Json::parse(model.training_json());
  out += fmt::format("trained on    {} rows{}, {} to validate\n", count_of(training, "train_rows"),
                     count_members(model.data()).networks > 1 ? " a network" : "",
                     count_of(training, "valid_rows"));
  const Json* const validation = training.find("validation");
  if (!validation || !validation->is_object()) return;
  std::string metrics;
  for (const auto& [name, value] : validation->members()) {
    if (value.is_number())
      metrics += fmt::format("{}{} {:.6g}", metrics.empty() ? "" : ", ", escape_controls(name),
                             value.get<double>());
  }
  out += "validation    " + metrics + "\n";
}

std::string what_is_predicted(const Schema& schema) {
  const Label& label = schema.label;
  std::string out = fmt::format("{} of '{}'", to_word(label.task()), escape_controls(label.name));
  if (label.classes.size() == 2) {
    out += fmt::format(", '{}' against '{}'", escape_controls(label.classes[1]),
                       escape_controls(label.classes[0]));
  } else if (!label.classes.empty()) {
    out += label.ordered ? ", grades " : ", classes ";
    out +=
        escape_controls(fmt::format("{}", fmt::join(label.classes, label.ordered ? " < " : ", ")));
  } else if (label.loss == Loss::quantile) {
    out += fmt::format(", quantiles {}", fmt::join(label.quantiles, ", "));
  } else if (label.loss != Loss::squared_error) {
    out += fmt::format(", loss {}", to_word(label.loss));
    if (label.loss == Loss::tweedie) out += fmt::format(" of power {}", label.power);
  }
  for (const auto& [role, name] : schema.beside)
    out += fmt::format("\n{:<14}{}", to_word(role), escape_controls(name));
  return out;
}

}  // namespace

std::string inspect_json(const Model& model) {
  const DefaultFloats floats;
  const Label& label = model.schema().label;
  Json json = {{"espalier", model.data().version},
               {"hash", model.hash()},
               {"task", to_word(label.task())},
               {"loss", to_word(label.loss)},
               {"label", label.name}};
  if (label.classes.size() == 2) {
    json["positive"] = label.classes[1];
    json["negative"] = label.classes[0];
  } else if (!label.classes.empty()) {
    json[label.ordered ? "grades" : "classes"] = label.classes;
  }
  if (!label.quantiles.empty()) json["quantiles"] = label.quantiles;
  if (label.has_log_link()) json["power"] = label.power, json["unit"] = label.unit;
  if (label.num_scores() == 1) {
    json["offset"] = label.offsets[0];
  } else {
    json["offsets"] = label.offsets;
  }
  json["scale"] = label.scale;
  for (const auto& [role, name] : model.schema().beside) json[std::string(to_word(role))] = name;
  json["architecture"] = model.architecture();
  json["parameters"] = model.num_parameters();
  json["training"] = Json::parse(model.training_json());
  json["features"] = Json::array();
  for (const Feature& feature : model.schema().features)
    json["features"].push_back(to_json(feature));
  if (const Schema& schema = model.schema(); !schema.pairs.empty()) {
    const Predictor predictor(model);
    for (const Pair& pair : schema.pairs)
      json["pairs"].push_back(to_json(pair, schema, surface_of(predictor, pair)));
  }
  const Anatomy opened = anatomy(model);
  json["networks"] = Json::array();
  for (const NetworkAnatomy& network : opened.networks) {
    Json layers = Json::array();
    for (const LayerAnatomy& layer : network.layers) layers.push_back(to_json(layer));
    json["networks"].push_back({{"weight", network.weight}, {"layers", layers}});
  }
  for (const ForestAnatomy& forest : opened.forests)
    json["forests"].push_back(to_json(forest, model.schema()));
  return json.dump();
}

namespace {

// The times are those of docs/export.md.
constexpr const char* kServing = R"(
to serve it (docs/export.md has the times)
  C++, C, Python      the predictor, with the bits that are proven; about 1 us a row
  export --to header  the same bits as C++17 source, without the library
  export --to onnx    for ONNX runtimes; the last digits differ, the proof ends there
)";

}  // namespace

std::string inspect_text(const Model& model) {
  const DefaultFloats floats;
  std::string out = what_is_predicted(model.schema());
  out += fmt::format("\narchitecture  {}\nparameters    {}\nhash          {}\n",
                     model.architecture(), model.num_parameters(), model.hash());
  const Anatomy opened = anatomy(model);
  out += members_text(model, opened);
  append_training(model, out);
  append_features(model.schema(), out);
  append_pairs(model, out);
  if (opened.networks.empty()) return out + kServing;
  if (model.num_members() > 1) out += "\nthe first network:\n";
  append_layers(opened.networks.front(), out);
  append_curves(opened.networks.front(), out);
  append_wiring(opened.networks.front(), out);
  return out + kServing;
}

}  // namespace espalier
