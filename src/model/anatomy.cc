// SPDX-License-Identifier: Apache-2.0
#include "espalier/anatomy.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/default_floats.h"
#include "encode/encode.h"
#include "encode/pairs.h"
#include "model/leaf_orders.h"
#include "model/model_data.h"
#include "model/visit_layer.h"

namespace espalier {

namespace {

std::span<const float> params_of(const Layer& layer, const float* params, int unit) {
  return {params + layer.unit_begin(unit), layer.unit_size(unit)};
}

Curve curve_of(const Calibrators& layer, const float* params, int unit, const NamedWire& wire) {
  const Feature* const feature = wire.feature;
  const std::span<const float> table = params_of(layer, params, unit);
  Curve curve{.wire = static_cast<std::size_t>(unit), .rises = layer.rises(unit)};
  if (wire.pair != nullptr || (feature != nullptr && feature->kind == FeatureKind::category)) {
    curve.outputs.assign(table.begin(), table.end());
    if (feature != nullptr) {
      curve.categories = feature->categories;
    } else {
      curve.inputs.resize(table.size());
      std::iota(curve.inputs.begin(), curve.inputs.end(), 0.0f);
    }
    return curve;
  }
  const auto keypoints = static_cast<std::size_t>(layer.keypoints(unit));
  curve.outputs.assign(table.begin(), table.begin() + layer.keypoints(unit));
  if (feature != nullptr) {
    curve.inputs = feature->keypoints;
    if (feature->monotonicity == Monotonicity::decreasing)
      std::reverse(curve.outputs.begin(), curve.outputs.end());
    if (feature->categories.size() == keypoints) curve.categories = feature->categories;
    if (feature->learns_missing) curve.missing = table[keypoints];
    return curve;
  }
  if (layer.reads_table()) {  // the level, which counts from 0
    for (std::size_t k = 0; k < keypoints; ++k) curve.inputs.push_back(static_cast<float>(k));
    return curve;
  }
  const auto [lo, hi] = layer.range(unit);
  for (std::size_t k = 0; k < keypoints; ++k) {
    curve.inputs.push_back(lo +
                           (hi - lo) * static_cast<float>(k) / static_cast<float>(keypoints - 1));
  }
  return curve;
}

CalibratorParts parts_of(const Calibrators& layer, const float* params,
                         const std::vector<NamedWire>& wires) {
  CalibratorParts parts;
  for (int u = 0; u < layer.num_units(); ++u) {
    if (layer.unit_size(u) == 0) continue;
    const auto wire = static_cast<std::size_t>(u);
    if (const Grid& grid = layer.inputs()[wire].grid; !grid.is_empty()) {
      parts.tables.push_back({.wire = wire,
                              .rises = {grid.first.rises, grid.second.rises},
                              .values = params_of(layer, params, u)});
      continue;
    }
    parts.curves.push_back(curve_of(layer, params, u, wires[wire]));
  }
  return parts;
}

EmbeddingParts parts_of(const Linear& layer, const float* params) {
  EmbeddingParts parts;
  for (int j = 0; j < layer.num_inputs(); ++j) {
    const Linear::Reach reach = layer.reach(j);
    parts.inputs.push_back({.first_output = static_cast<std::size_t>(reach.begin),
                            .num_outputs = reach.width(),
                            .weights = params_of(layer, params, j)});
  }
  parts.bias = params_of(layer, params, layer.num_inputs());
  return parts;
}

LatticeParts parts_of(const Lattices& layer, const float* params) {
  LatticeParts parts{.interpolation = layer.interpolation()};
  for (int g = 0; g < layer.num_units(); ++g) {
    LatticeTable lattice{.first_wire = static_cast<std::size_t>(g * layer.size()),
                         .sizes = layer.vertices().sizes(),
                         .vertices = params_of(layer, params, g)};
    for (int d = 0; d < layer.size(); ++d) lattice.rises.push_back(layer.rises(g, d));
    parts.lattices.push_back(std::move(lattice));
  }
  return parts;
}

TreeParts parts_of(const Trees& layer, const float* params, const LayerSpec& spec) {
  TreeParts parts;
  std::span<const TreeNode> nodes = spec.nodes;
  for (int g = 0; g < layer.num_units(); ++g) {
    const std::span<const float> leaves = params_of(layer, params, g);
    const std::size_t size = 2 * leaves.size() - 1;  // a leaf more than questions
    parts.trees.push_back({.nodes = nodes.first(size), .leaves = leaves});
    nodes = nodes.subspan(size);
  }
  return parts;
}

// The wires behind a layer: calibrators keep the names, a gather moves the wires.
std::vector<NamedWire> wires_behind(const Network& network, int index,
                                    const std::vector<NamedWire>& before) {
  std::vector<NamedWire> wires;
  const Layer& layer = network.layer(index);
  const auto add_outputs = [&](bool keeps_names) {
    for (std::size_t i = 0; i < layer.outputs().size(); ++i) {
      const Wire& output = layer.outputs()[i];
      wires.push_back({.name = keeps_names ? before[i].name : fmt::format("{}.{}", index + 1, i),
                       .monotone = output.monotone,
                       .feature = output.is_category() ? before[i].feature : nullptr,
                       .pair = output.is_category() ? before[i].pair : nullptr});
    }
  };
  visit_layer(network, index,
              Overloaded{[&](const Gather& gather) {
                           for (const int wire : gather.wires())
                             wires.push_back(before[static_cast<std::size_t>(wire)]);
                         },
                         [&](const Calibrators&) { add_outputs(true); },
                         [&](const Layer&) { add_outputs(false); }});
  return wires;
}

LayerAnatomy layer_of(const Network& network, int index, std::vector<NamedWire> wires) {
  const Layer& layer = network.layer(index);
  const float* params = network.layer_params(index);
  const LayerSpec& spec = network.architecture().layers[static_cast<std::size_t>(index)];
  LayerAnatomy opened{.name = short_name(spec),
                      .inputs = std::move(wires),
                      .num_outputs = layer.outputs().size(),
                      .num_parameters = layer.num_params()};
  for (const Wire& output : layer.outputs()) opened.num_monotone_outputs += output.monotone ? 1 : 0;
  visit_layer(network, index,
              Overloaded{[&](const Calibrators& own) {
                           opened.parts = parts_of(own, params, opened.inputs);
                         },
                         [&](const Linear& own) { opened.parts = parts_of(own, params); },
                         [&](const Lattices& own) { opened.parts = parts_of(own, params); },
                         [&](const Gather& own) { opened.parts = GatherParts{own.wires()}; },
                         [&](const Sum&) { opened.parts = SumParts{}; },
                         [&](const MinMax& own) {
                           opened.parts = MinMaxParts{own.groups(), own.size()};
                         },
                         [&](const Relu&) { opened.parts = ReluParts{}; },
                         [&](const Trees& own) { opened.parts = parts_of(own, params, spec); }});
  return opened;
}

std::vector<bool> categories_right(const DecisionForest& forest, std::uint32_t set,
                                   const Feature& feature) {
  std::vector<bool> right;
  for (std::size_t code = 0; code <= num_own_categories(feature); ++code)
    right.push_back(forest.has(set, code));
  return right;
}

ForestAnatomy forest_of(const DecisionForest& forest, const Schema& schema) {
  ForestAnatomy opened{.num_leaf_orders = count_leaf_orders(forest, schema)};
  for (const DecisionTree& tree : forest.trees) {
    TreeAnatomy& own = opened.trees.emplace_back();
    own.leaves = tree.leaves;
    for (const DecisionSplit& split : tree.splits) {
      const bool is_category = split.feature < schema.features.size() &&
                               schema.features[split.feature].kind == FeatureKind::category;
      SplitParts& parts = own.splits.emplace_back();
      parts.feature = split.feature;
      parts.left = split.next[0];
      parts.right = split.next[1];
      if (is_category) {
        parts.categories_right =
            categories_right(forest, split.set, schema.features[split.feature]);
      } else {
        parts.threshold = split.threshold;
        parts.missing_right = split.missing_right;
      }
    }
  }
  return opened;
}

}  // namespace

Anatomy anatomy(const Model& model) {
  const DefaultFloats floats;
  Anatomy opened{.model = model};
  std::vector<NamedWire> inputs;
  const std::vector<Feature>& features = model.schema().features;
  for (std::size_t f = 0; f < features.size(); ++f) {
    const bool monotone = features[f].monotonicity != Monotonicity::none;
    inputs.push_back({.name = features[f].name, .monotone = monotone, .feature = &features[f]});
    if (monotone) opened.promises.push_back({f, features[f].monotonicity});
  }
  for (const Pair& pair : model.schema().pairs)
    inputs.push_back(
        {.name = name_of(pair, model.schema()), .monotone = pair.is_grid(), .pair = &pair});
  if (model.schema().label.num_levels() > 1) inputs.push_back({.name = "level", .monotone = true});
  for (const ModelMember& member : model.data().members) {
    if (!member.is_network()) {
      opened.forests.push_back(forest_of(member.forest(), model.schema()));
      opened.forests.back().weight = member.weight;
      continue;
    }
    const Network& network = member.network();
    NetworkAnatomy& own = opened.networks.emplace_back();
    own.weight = member.weight;
    own.num_scores = static_cast<std::size_t>(network.num_scores());
    std::vector<NamedWire> wires = inputs;
    for (int l = 0; l < network.num_layers(); ++l) {
      std::vector<NamedWire> behind = wires_behind(network, l, wires);
      own.layers.push_back(layer_of(network, l, std::move(wires)));
      wires = std::move(behind);
    }
  }
  return opened;
}

}  // namespace espalier
