// SPDX-License-Identifier: Apache-2.0
#include "espalier/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "espalier/model.h"
#include "layers/calibrators.h"
#include "layers/lattices.h"
#include "layers/linear.h"
#include "layers/wiring.h"
#include "model/model_data.h"

namespace espalier {

namespace {

using Json = nlohmann::ordered_json;

// What a wire before a layer is called, and the feature that it carries as the table has it, if it
// does.
struct NamedWire {
  std::string name;
  const Feature* feature;
};

std::vector<NamedWire> wires_behind(const Layer& layer, int index,
                                    const std::vector<NamedWire>& before) {
  std::vector<NamedWire> wires;
  if (const auto* gather = dynamic_cast<const Gather*>(&layer)) {
    for (const int wire : gather->wires()) wires.push_back(before[static_cast<std::size_t>(wire)]);
    return wires;
  }
  const bool keeps_names = dynamic_cast<const Calibrators*>(&layer) != nullptr;
  for (int i = 0; i < layer.num_outputs(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool passes = layer.outputs()[at].is_category();
    wires.push_back({keeps_names ? before[at].name : fmt::format("{}.{}", index + 1, i),
                     passes ? before[at].feature : nullptr});
  }
  return wires;
}

// A calibrator as a curve: what goes in, what comes out.
Json curve_of(const Calibrators& layer, const float* params, int unit, const NamedWire& wire) {
  const float* table = params + layer.unit_begin(unit);
  const std::size_t size = layer.unit_begin(unit + 1) - layer.unit_begin(unit);
  Json curve = {{"wire", wire.name}, {"rises", layer.rises(unit)}};
  const auto keypoints = static_cast<std::size_t>(layer.keypoints(unit));
  const Feature* feature = wire.feature;
  std::vector<float> inputs, outputs(table, table + keypoints);
  if (feature != nullptr && feature->kind == FeatureKind::category) {
    curve["words"] = feature->words;
    curve["outputs"] = std::vector<float>(table, table + size);
    return curve;
  }
  if (feature != nullptr) {
    inputs = feature->keypoints;
    if (feature->monotonicity == Monotonicity::decreasing)
      std::reverse(outputs.begin(), outputs.end());
    if (feature->words.size() == keypoints) curve["words"] = feature->words;
    if (feature->learns_missing) curve["missing"] = table[keypoints];
  } else {
    const auto [lo, hi] = layer.range(unit);
    for (std::size_t k = 0; k < keypoints; ++k) {
      inputs.push_back(lo + (hi - lo) * static_cast<float>(k) / static_cast<float>(keypoints - 1));
    }
  }
  curve["inputs"] = inputs;
  curve["outputs"] = outputs;
  return curve;
}

Json linear_of(const Linear& layer, const float* params, const std::vector<NamedWire>& wires) {
  Json inputs = Json::array();
  for (int j = 0; j < layer.num_inputs(); ++j) {
    const Linear::Reach reach = layer.reach(j);
    const std::vector<float> weights(params + layer.unit_begin(j),
                                     params + layer.unit_begin(j + 1));
    inputs.push_back({{"wire", wires[static_cast<std::size_t>(j)].name},
                      {"first_output", reach.begin},
                      {"outputs", reach.width()},
                      {"weights", weights}});
  }
  const float* bias = params + layer.bias_begin();
  return {{"inputs", inputs}, {"bias", std::vector<float>(bias, bias + layer.num_outputs())}};
}

Json lattice_of(const Lattices& layer, const float* params, int g,
                const std::vector<NamedWire>& wires) {
  std::vector<std::string> names;
  std::vector<bool> rises;
  for (int d = 0; d < layer.size(); ++d) {
    names.push_back(wires[static_cast<std::size_t>(g * layer.size() + d)].name);
    rises.push_back(layer.rises(g, d));
  }
  const float* theta = params + layer.unit_begin(g);
  return {{"wires", names},
          {"rises", rises},
          {"interpolation", to_word(layer.interpolation())},
          {"vertices", std::vector<float>(theta, theta + layer.num_vertices())}};
}

Json layer_to_json(const Network& network, int l, const std::vector<NamedWire>& wires) {
  const Layer& layer = network.layer(l);
  const float* params = network.layer_params(l);
  const LayerSpec& spec = network.architecture().layers[static_cast<std::size_t>(l)];
  const auto monotone = [](const Wire& wire) { return wire.monotone; };
  Json json = {
      {"layer", spec.kind == LayerKind::gather ? "gather" : to_string(spec)},
      {"inputs", layer.num_inputs()},
      {"outputs", layer.num_outputs()},
      {"monotone_outputs", std::count_if(layer.outputs().begin(), layer.outputs().end(), monotone)},
      {"parameters", layer.num_params()}};
  if (const auto* calibrators = dynamic_cast<const Calibrators*>(&layer)) {
    json["calibrators"] = Json::array();
    for (int u = 0; u < layer.num_units(); ++u) {
      if (layer.unit_begin(u) == layer.unit_begin(u + 1)) continue;
      json["calibrators"].push_back(
          curve_of(*calibrators, params, u, wires[static_cast<std::size_t>(u)]));
    }
  } else if (const auto* linear = dynamic_cast<const Linear*>(&layer)) {
    json["linear"] = linear_of(*linear, params, wires);
  } else if (const auto* lattices = dynamic_cast<const Lattices*>(&layer)) {
    json["lattices"] = Json::array();
    for (int g = 0; g < layer.num_units(); ++g)
      json["lattices"].push_back(lattice_of(*lattices, params, g, wires));
  } else if (const auto* gather = dynamic_cast<const Gather*>(&layer)) {
    json["wires"] = gather->wires();
  }
  return json;
}

Json feature_to_json(const Feature& feature) {
  Json json = {{"name", feature.name},
               {"kind", to_word(feature.kind)},
               {"monotonicity", to_word(feature.monotonicity)}};
  if (!feature.words.empty()) json["words"] = feature.words;
  if (feature.kind != FeatureKind::category) {
    json["keypoints"] = feature.keypoints.size();
    json["learns_missing"] = feature.learns_missing;
    json["typical"] = feature.typical;
  }
  if (!feature.missing.empty()) json["missing"] = feature.missing;
  if (!feature.not_missing.empty()) json["not_missing"] = feature.not_missing;
  return json;
}

Json describe_model(const Model& model) {
  const Schema& schema = model.schema();
  Json json = {{"espalier", model.data().version},
               {"hash", model.hash()},
               {"task", to_word(schema.label.task)},
               {"label", schema.label.name}};
  if (schema.label.task == Task::classification) {
    json["positive"] = schema.label.positive;
    json["negative"] = schema.label.negative;
  }
  json["offset"] = schema.label.offset;
  json["scale"] = schema.label.scale;
  json["architecture"] = model.architecture();
  json["parameters"] = model.num_parameters();
  json["training"] = Json::parse(model.training_json());
  json["features"] = Json::array();
  std::vector<NamedWire> inputs;
  for (const Feature& feature : schema.features) {
    json["features"].push_back(feature_to_json(feature));
    inputs.push_back({feature.name, &feature});
  }
  json["networks"] = Json::array();
  for (const Network& network : model.data().members) {
    Json layers = Json::array();
    std::vector<NamedWire> wires = inputs;
    for (int l = 0; l < network.num_layers(); ++l) {
      layers.push_back(layer_to_json(network, l, wires));
      wires = wires_behind(network.layer(l), l, wires);
    }
    json["networks"].push_back({{"layers", layers}});
  }
  return json;
}

// At most `most` entries of a curve, evenly spread, first and last among them.
std::string curve_text(const Json& inputs, const Json& outputs, std::size_t most) {
  std::string text;
  const std::size_t n = outputs.size(), shown = std::min(n, most);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t k = shown > 1 ? i * (n - 1) / (shown - 1) : 0;
    const std::string in = inputs[k].is_string() ? inputs[k].get<std::string>()
                                                 : fmt::format("{:.6g}", inputs[k].get<double>());
    text += fmt::format("{}{} -> {:.3f}", i > 0 ? ", " : "", in.empty() ? "(missing)" : in,
                        outputs[k].get<double>());
  }
  return text;
}

void append_features(const Json& features, std::string& out) {
  out += fmt::format("\n{:<28} {:<10} {:<12} {}\n", "feature", "kind", "prediction", "values");
  for (const Json& feature : features) {
    const std::string direction = feature["monotonicity"];
    const std::string promise = direction == "increasing"   ? "never falls"
                                : direction == "decreasing" ? "never rises"
                                                            : "free";
    std::string values;
    if (feature.contains("keypoints")) {
      values = fmt::format("{} keypoints{}", feature["keypoints"].get<int>(),
                           feature["learns_missing"].get<bool>() ? ", missing learned" : "");
    } else {
      values = fmt::format("{} categories", feature["words"].size());
    }
    out += fmt::format("{:<28} {:<10} {:<12} {}\n", feature["name"].get<std::string>(),
                       feature["kind"].get<std::string>(), promise, values);
  }
}

void append_layers(const Json& layers, std::string& out) {
  out += fmt::format("\n{:<5} {:<30} {:>8} {:>8} {:>9} {:>11}\n", "layer", "", "inputs", "outputs",
                     "monotone", "parameters");
  int index = 0;
  for (const Json& layer : layers) {
    out += fmt::format("{:<5} {:<30} {:>8} {:>8} {:>9} {:>11}\n", ++index,
                       layer["layer"].get<std::string>(), layer["inputs"].get<int>(),
                       layer["outputs"].get<int>(), layer["monotone_outputs"].get<int>(),
                       layer["parameters"].get<std::size_t>());
  }
}

void append_curves(const Json& layers, std::string& out) {
  constexpr std::size_t kShown = 8;
  for (const Json& layer : layers) {
    if (!layer.contains("calibrators")) continue;
    out += "\ncalibrators of the inputs (--json has every keypoint)\n";
    for (const Json& curve : layer["calibrators"]) {
      const Json& inputs = curve.contains("words") ? curve["words"] : curve["inputs"];
      out += fmt::format("  {}: {}", curve["wire"].get<std::string>(),
                         curve_text(inputs, curve["outputs"], kShown));
      if (curve.contains("missing"))
        out += fmt::format(", (missing) -> {:.3f}", curve["missing"].get<double>());
      out += "\n";
    }
    return;
  }
}

// A number of the training record, which nobody checks when a model is loaded.
std::size_t count_of(const Json& training, const char* key) {
  const auto found = training.find(key);
  return found != training.end() && found->is_number_unsigned() ? found->get<std::size_t>() : 0;
}

// Which wires the lattices read; beyond a few that is a matter for programs.
void append_wiring(const Json& layers, std::string& out) {
  constexpr std::size_t kShown = 6;
  int index = 0;
  for (const Json& layer : layers) {
    ++index;
    if (!layer.contains("lattices")) continue;
    const Json& lattices = layer["lattices"];
    out += fmt::format("\nwiring of layer {}, a + where a lattice must rise{}\n", index,
                       lattices.size() > kShown
                           ? fmt::format(" (the first {} of {})", kShown, lattices.size())
                           : "");
    for (std::size_t g = 0; g < std::min(kShown, lattices.size()); ++g) {
      std::string wires;
      for (std::size_t d = 0; d < lattices[g]["wires"].size(); ++d) {
        wires += " " + lattices[g]["wires"][d].get<std::string>() +
                 (lattices[g]["rises"][d].get<bool>() ? "+" : "");
      }
      out += fmt::format("  lattice {}:{}\n", g, wires);
    }
  }
}

}  // namespace

std::string inspect_json(const Model& model) { return describe_model(model).dump(); }

std::string inspect_text(const Model& model) {
  const Json json = describe_model(model);
  const Json& training = json["training"];
  std::string out =
      fmt::format("{} of '{}'", json["task"].get<std::string>(), json["label"].get<std::string>());
  if (json.contains("positive")) {
    out += fmt::format(", '{}' against '{}'", json["positive"].get<std::string>(),
                       json["negative"].get<std::string>());
  }
  out += fmt::format("\narchitecture  {}\nparameters    {}\nhash          {}\n",
                     model.architecture(), model.num_parameters(), model.hash());
  if (model.num_members() > 1)
    out += fmt::format("networks      {}, averaged\n", model.num_members());
  out += fmt::format("trained on    {} rows{}, {} to validate\n", count_of(training, "train_rows"),
                     model.num_members() > 1 ? " a network" : "", count_of(training, "valid_rows"));
  if (training.contains("validation")) {
    std::string metrics;
    for (const auto& [name, value] : training["validation"].items()) {
      if (value.is_number())
        metrics +=
            fmt::format("{}{} {:.6g}", metrics.empty() ? "" : ", ", name, value.get<double>());
    }
    out += "validation    " + metrics + "\n";
  }
  append_features(json["features"], out);
  const Json& layers = json["networks"][0]["layers"];
  if (model.num_members() > 1) out += "\nthe first network:\n";
  append_layers(layers, out);
  append_curves(layers, out);
  append_wiring(layers, out);
  return out;
}

}  // namespace espalier
