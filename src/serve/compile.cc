// SPDX-License-Identifier: Apache-2.0
#include "serve/compile.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "core/float_rank.h"
#include "encode/encode.h"
#include "model/model_data.h"
#include "model/visit_layer.h"

namespace espalier {

namespace {

Cell cell_of(const Feature& feature) {
  if (feature.kind == FeatureKind::category) {
    return CategoryCell{.num_categories = static_cast<int>(num_own_categories(feature)),
                        .missing = static_cast<int>(encode_cell(feature, NAN))};
  }
  return NumberCell{.keypoints = feature.keypoints,
                    .reversed = feature.monotonicity == Monotonicity::decreasing,
                    .missing = encode_cell(feature, NAN)};
}

CalibratorStep calibrator_step(const Calibrators& layer, const float* params) {
  const auto num_units = static_cast<std::size_t>(layer.num_units());
  const auto keypoints = static_cast<std::size_t>(layer.keypoints(0));
  CalibratorStep step{.num_units = num_units, .keypoints = layer.keypoints(0)};
  for (auto* array : {&step.lo, &step.inverse_step, &step.low, &step.range})
    array->resize(padded(num_units));
  step.tables.resize(padded(num_units) * keypoints);
  for (std::size_t u = 0; u < num_units; ++u) {
    const UniformKeypoints own =
        uniform_keypoints(step.keypoints - 1, layer.constants().data() + 2 * u);
    step.lo[u] = own.lo;
    step.inverse_step[u] = own.inverse_step;
    const WayBack back = enter_binade({params + layer.unit_begin(static_cast<int>(u)), keypoints},
                                      step.tables.data() + u * keypoints);
    step.low[u] = back.low;
    step.range[u] = back.range;
  }
  return step;
}

// The rows that the codes of a category pick; the last is the mean of the others.
AlignedFloats category_rows(const float* weights, const std::vector<float>& shares,
                            std::size_t width) {
  AlignedFloats rows((shares.size() + 1) * padded(width));
  float* row = rows.data();
  for (std::size_t c = 0; c < shares.size(); ++c, row += padded(width))
    std::copy_n(weights + c * width, width, row);
  for (std::size_t i = 0; i < width; ++i)
    row[i] = static_cast<float>(mean_over(shares, weights + i, width));
  return rows;
}

LinearStep linear_step(const Linear& layer, const float* params) {
  const float* bias = params + layer.bias_begin();
  LinearStep step{.bias = {bias, bias + layer.num_outputs()}};
  step.category_begin = step.bias.size();
  for (int j = 0; j < layer.num_inputs(); ++j) {
    const auto wire = static_cast<std::size_t>(j);
    const Linear::Reach reach = layer.reach(j);
    const auto begin = static_cast<std::size_t>(reach.begin);
    const float* weights = params + layer.unit_begin(j);
    if (const std::vector<float>& shares = layer.inputs()[wire].shares; !shares.empty()) {
      // Categories are not monotone, so they all reach the same outputs.
      step.category_begin = begin;
      step.category_width = reach.width();
      step.categories.push_back({wire, category_rows(weights, shares, reach.width())});
    } else {
      // On cache lines as the outputs lie on them.
      step.weights.resize(padded(step.weights.size()) + begin % 16);
      step.numbers.push_back({wire, begin, begin + reach.width(), step.weights.size()});
      step.weights.insert(step.weights.end(), weights, weights + reach.width());
    }
  }
  return step;
}

LatticeStep lattice_step(const Lattices& layer, const float* params) {
  LatticeStep step{.size = layer.size(),
                   .interpolation = layer.interpolation(),
                   .tables = std::vector<float>(layer.num_params())};
  float* table = step.tables.data();
  const std::size_t vertices = step.num_vertices();
  for (int g = 0; g < layer.num_units(); ++g, params += vertices, table += vertices)
    step.backs.push_back(enter_binade({params, vertices}, table));
  return step;
}

Step step_of(const Network& network, int index) {
  const float* params = network.layer_params(index);
  const auto num_inputs = static_cast<std::size_t>(network.layer(index).num_inputs());
  return visit_layer(
      network, index,
      Overloaded{[&](const Calibrators& layer) -> Step {
                   if (layer.reads_table()) return CellStep{cell_tables(layer, params)};
                   return calibrator_step(layer, params);
                 },
                 [&](const Linear& layer) -> Step { return linear_step(layer, params); },
                 [&](const Lattices& layer) -> Step { return lattice_step(layer, params); },
                 [&](const Gather& layer) -> Step {
                   return GatherStep{{layer.wires().begin(), layer.wires().end()}};
                 },
                 [&](const Sum&) -> Step { return SumStep{num_inputs}; },
                 [&](const MinMax& layer) -> Step {
                   return MinMaxStep{layer.groups(), layer.size()};
                 },
                 [&](const Relu&) -> Step { return ReluStep{num_inputs}; },
                 [&](const Trees& layer) -> Step {
                   return TreeStep{layer.plan(), {params, params + layer.num_params()}};
                 }});
}

// The split on the encoded cell. As a feature falls its position rises, so the sides change places.
DecisionSplit encode_split(DecisionSplit split, const Feature& feature) {
  if (feature.kind == FeatureKind::category) return split;
  const bool reversed = feature.monotonicity == Monotonicity::decreasing;
  if (split.threshold == -std::numeric_limits<float>::infinity()) {
    split.threshold = 0;
  } else if (!reversed) {
    split.threshold = encode_number(feature, split.threshold);
  } else {
    split.threshold = encode_number(feature, of_rank(rank_of(split.threshold) - 1));
    split.missing_right = !split.missing_right;
    std::swap(split.next[0], split.next[1]);
  }
  return split;
}

ForestStep forest_step(DecisionForest forest, const Schema& schema) {
  const std::size_t num_features = schema.features.size();
  const std::size_t level = num_features + schema.pairs.size();
  for (DecisionTree& tree : forest.trees) {
    for (DecisionSplit& split : tree.splits) {
      if (split.feature < num_features) {
        split = encode_split(split, schema.features[split.feature]);
      } else {
        split.feature = static_cast<std::uint32_t>(level);
      }
    }
  }
  ForestStep step{.inputs = std::vector<ForestStep::Input>(level), .forest = std::move(forest)};
  for (std::size_t f = 0; f < num_features; ++f) {
    const Feature& feature = schema.features[f];
    if (feature.kind == FeatureKind::category) {
      step.inputs[f].num_codes = static_cast<int>(num_own_categories(feature)) + 1;
    } else {
      step.inputs[f].keypoints = static_cast<int>(feature.keypoints.size());
    }
  }
  if (const std::size_t levels = schema.label.num_levels(); levels > 1)
    step.inputs.push_back({.keypoints = static_cast<int>(levels)});
  return step;
}

std::vector<Step> compile_member(const ModelMember& member, const Schema& schema) {
  if (member.is_network()) return compile(member.network());
  return {forest_step(member.forest(), schema)};
}

}  // namespace

std::vector<Step> compile(const Network& network) {
  std::vector<Step> steps;
  for (int l = 0; l < network.num_layers(); ++l) steps.push_back(step_of(network, l));
  return steps;
}

Program compile(const Model& model) {
  Program program;
  for (const Feature& feature : model.schema().features) program.cells.push_back(cell_of(feature));
  for (const Pair& pair : model.schema().pairs) {
    program.pairs.push_back(
        {pair.first.feature, pair.second.feature, pair.first.edges, pair.second.edges, pair.codes});
  }
  for (const ModelMember& member : model.data().members) {
    program.members.push_back(compile_member(member, model.schema()));
    program.weights.push_back(member.weight);
  }
  const Label& label = model.schema().label;
  if (const std::size_t levels = label.num_levels(); levels > 1) {
    for (std::size_t level = 0; level < levels; ++level)
      program.levels.push_back(static_cast<float>(label.level_position(level)));
  }
  for (std::size_t s = 0; s < label.num_scores(); ++s) program.scores.push_back(units_of(label, s));
  program.link = link_of(label);
  program.unit = static_cast<float>(label.unit);
  program.has_exposure = model.schema().beside.contains(Role::exposure);
  program.has_offset = model.schema().beside.contains(Role::offset);
  return program;
}

}  // namespace espalier
