// SPDX-License-Identifier: Apache-2.0
// Random schemas, networks, models and rows for tests of laws that hold for all of them.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "encode/encode.h"
#include "encode/pairs.h"
#include "espalier/model.h"
#include "model/model_data.h"

namespace espalier {

// Keypoints of all sizes, now and then with gaps of a few floats or through the subnormal numbers.
inline std::vector<float> random_keypoints(Random& random) {
  constexpr double kScales[] = {1, 1, 1, 1e-3, 1e4, 1e30, 1e-40};
  const double scale = kScales[random.below(std::size(kScales))];
  std::vector<float> keypoints;
  while (keypoints.size() < 2) {
    const auto count = 2 + random.below(8);
    for (std::uint64_t k = 0; k < count; ++k) {
      const bool near = !keypoints.empty() && random.uniform() < 0.1;
      keypoints.push_back(near ? std::nextafter(keypoints.back(), INFINITY)
                               : static_cast<float>(scale * random.normal()));
    }
    std::sort(keypoints.begin(), keypoints.end());
    keypoints.erase(std::unique(keypoints.begin(), keypoints.end()), keypoints.end());
  }
  return keypoints;
}

inline Feature random_feature(Random& random, std::string name) {
  Feature feature{.name = std::move(name)};
  const double kind = random.uniform();
  if (kind < 0.2) {
    feature.kind = FeatureKind::category;
    feature.categories = {"red", "", "blue"};
    feature.shares = {0.5f, 0.25f, 0.25f};
    feature.pools_rare = random.uniform() < 0.3;
    return feature;
  }
  feature.learns_missing = random.uniform() < 0.3;
  if (random.uniform() < 0.6) {
    feature.monotonicity =
        random.uniform() < 0.5 ? Monotonicity::increasing : Monotonicity::decreasing;
  }
  if (kind < 0.3) {
    feature.kind = FeatureKind::ordered;
    feature.categories = {"low", "middle", "high"};
    feature.keypoints = {0, 1, 2};
  } else {
    feature.keypoints = random_keypoints(random);
    feature.typical = feature.keypoints[feature.keypoints.size() / 2];
  }
  return feature;
}

// Bins of an encoded feature: among its positions, missing cells apart or not, or its codes.
inline Pair::Side random_side(std::size_t index, const Feature& feature, Random& random) {
  Pair::Side side{.feature = index};
  const auto most = feature.kind == FeatureKind::category ? feature.categories.size() + 1
                                                          : feature.keypoints.size();
  for (std::uint64_t e = 0; e < 1 + random.below(5); ++e) {
    const double edge = random.uniform() * static_cast<double>(most - 1);
    side.edges.push_back(static_cast<float>(random.uniform() < 0.5 ? std::floor(edge) : edge));
  }
  std::sort(side.edges.begin(), side.edges.end());
  side.edges.erase(std::unique(side.edges.begin(), side.edges.end()), side.edges.end());
  return side;
}

// A grid of two features of which one has a direction, now and then.
inline void add_random_grids(Random random, Schema& schema) {
  for (std::uint64_t p = random.below(3); p > 0; --p) {
    const std::size_t first = random.below(schema.features.size());
    const std::size_t second = random.below(schema.features.size());
    if (first == second || !needs_grid(schema, first, second)) continue;
    schema.pairs.push_back(fit_grid(schema, first, second, static_cast<int>(2 + random.below(6))));
  }
}

// Crosses free features, if there are two.
inline void add_random_pairs(Random random, Schema& schema) {
  std::vector<std::size_t> free;
  for (std::size_t f = 0; f < schema.features.size(); ++f) {
    if (schema.features[f].monotonicity == Monotonicity::none) free.push_back(f);
  }
  const std::uint64_t count = free.size() < 2 ? 0 : random.below(3);
  for (std::uint64_t p = 0; p < count; ++p) {
    random.shuffle(std::span(free));
    Pair pair{.first = random_side(free[0], schema.features[free[0]], random),
              .second = random_side(free[1], schema.features[free[1]], random)};
    for (std::uint64_t c = 0; c <= random.below(6); ++c)
      pair.shares.push_back(static_cast<float>(0.1 + random.uniform()));
    for (std::size_t cell = 0; cell < pair.first.num_bins() * pair.second.num_bins(); ++cell)
      pair.codes.push_back(static_cast<std::int32_t>(random.below(pair.shares.size() + 1)));
    for (std::size_t i = 0; i < pair.codes.size(); i += 2) pair.codes[i] = 0;
    schema.pairs.push_back(std::move(pair));
  }
}

// Of every kind that may have directions.
inline Label random_label(Random& random) {
  Label label{.name = "label"};
  switch (random.below(6)) {
    case 0:
      label.loss = Loss::log_loss;
      label.classes = {"no", "yes"};
      break;
    case 1:
      label.loss = Loss::log_loss;
      label.classes = {"bad", "fair", "good", "top"};
      label.ordered = true;
      break;
    case 2:
      label.loss = Loss::quantile;
      label.quantiles = {0.1, 0.5, 0.9};
      break;
    case 3:
      label.loss = Loss::tweedie;
      label.power = 1.5;
      label.unit = 0.125;
      break;
    default:
      break;
  }
  label.offsets.assign(label.num_scores(), static_cast<float>(random.normal()));
  label.scale = static_cast<float>(0.1 + random.uniform());
  return label;
}

inline Schema random_schema(Random& random) {
  Schema schema;
  const auto count = 2 + random.below(6);
  for (std::uint64_t i = 0; i < count; ++i)
    schema.features.push_back(random_feature(random, fmt::format("x{}", i)));
  schema.features.push_back(
      {.name = "last", .monotonicity = Monotonicity::increasing, .keypoints = {-2, 0, 0.5f, 1, 3}});
  schema.label = random_label(random);
  if (schema.label.has_log_link() && random.uniform() < 0.5)
    schema.beside[Role::exposure] = "exposure";
  if (random.uniform() < 0.2) schema.beside[Role::offset] = "offset";
  add_random_pairs(random.split(77), schema);
  add_random_grids(random.split(78), schema);
  return schema;
}

// cal, then a few blocks of embedding, calibrators and lattices, then one of several ends.
inline std::string random_architecture(Random& random, std::size_t num_outputs = 1) {
  std::string text = fmt::format("cal({})", 2 + random.below(8));
  const auto blocks = 1 + random.below(2);
  for (std::uint64_t b = 0; b < blocks; ++b) {
    const auto groups = 1 + random.below(4), size = 1 + random.below(4);
    text += fmt::format(" lin({}{}) ", groups * size, random.uniform() < 0.5 ? ",split" : "");
    if (random.uniform() < 0.7)
      text += fmt::format("cal({}{}) ", 2 + random.below(9), random.uniform() < 0.3 ? ",-2:2" : "");
    text += fmt::format("lat({}x{}{})", groups, size, random.uniform() < 0.4 ? ",simplex" : "");
    if (random.uniform() < 0.5) text += " cal(5)";
  }
  if (num_outputs > 1) return text + fmt::format(" lin({})", num_outputs);
  const char* ends[] = {" lin(1)",     " sum", " lin(1) cal(6,-3:3)", " lin(4) lat(2x2) lat",
                        " lin(6) lat", " lat", " lin(6) minmax(3x2)", " lin(5) relu lin(1)"};
  return text + ends[random.below(std::size(ends))];
}

// A start that follows its inputs, then noise, then projected.
inline Network random_network(const Schema& schema, MonotoneCalibrators calibrators,
                              const std::string& architecture, const Random& wiring,
                              Random& random) {
  Network network(parse_architecture(architecture), input_wires(schema), calibrators, wiring, {},
                  score_wires(schema.label));
  for (int l = 0; l < network.num_layers(); ++l) {
    Layer& layer = network.layer(l);
    float* params = network.params().data() + network.offset(l);
    const bool after_lin =
        l > 0 &&
        network.architecture().layers[static_cast<std::size_t>(l) - 1].kind == LayerKind::lin;
    const std::vector<WireStats> stats(static_cast<std::size_t>(layer.num_inputs()),
                                       WireStats{after_lin ? 0.0f : 0.5f, 0.4f});
    layer.initialize(params, {Initialization::data, 0.2f, stats, &random});
    for (std::size_t i = 0; i < layer.num_params(); ++i)
      params[i] += static_cast<float>(0.2 * random.normal());
    for (int u = 0; u < layer.num_units(); ++u) {
      layer.project(params + layer.unit_begin(u), u,
                    random.uniform() < 0.5 ? Projection::sweep : Projection::exact, {});
    }
  }
  return network;
}

inline Network random_network(const Schema& schema, MonotoneCalibrators calibrators,
                              Random& random) {
  const Random wiring = random.split(1);
  const std::string architecture = random_architecture(random, schema.label.num_outputs());
  return random_network(schema, calibrators, architecture, wiring, random);
}

inline Network random_network(Random& random) {
  const Schema schema = random_schema(random);
  return random_network(
      schema, random.uniform() < 0.5 ? MonotoneCalibrators::required : MonotoneCalibrators::all,
      random);
}

// One tree as the grammar writes it, with at most so many questions on the way to a leaf.
inline std::string random_tree(std::size_t num_wires, int depth, Random& random) {
  if (depth == 0 || random.uniform() < 0.2) return "_";
  const std::uint64_t wire = random.below(num_wires);
  const auto above = static_cast<float>(random.uniform());
  const std::string no = random_tree(num_wires, depth - 1, random);
  return fmt::format("{}>{},{},{}", wire, above, no, random_tree(num_wires, depth - 1, random));
}

// Tables as forests are grown with: the place of a number between its ends, an answer for missing
// values and for each category.
inline void set_forest_tables(const Layer& layer, Random& random, float* params) {
  for (int u = 0; u < layer.num_units(); ++u) {
    const Wire& wire = layer.inputs()[static_cast<std::size_t>(u)];
    for (std::size_t i = layer.unit_begin(u), k = 0; i < layer.unit_begin(u + 1); ++i, ++k) {
      const bool is_place = !wire.is_category() && k < static_cast<std::size_t>(wire.keypoints);
      params[i] = is_place ? static_cast<float>(k) / static_cast<float>(wire.keypoints - 1)
                           : static_cast<float>(random.below(2));
    }
  }
}

// A forest as it is grown: tables of the columns, trees, their sum. Some have other tables than
// forests are grown with.
inline Network random_trees(const Schema& schema, MonotoneCalibrators calibrators, Random random) {
  // Columns, and the level if there is one; trees do not ask for pairs.
  const std::size_t num_features = schema.features.size();
  const std::size_t num_read = num_features + (schema.label.num_levels() > 1 ? 1 : 0);
  std::vector<std::uint64_t> readings;
  for (std::uint64_t i = 0; i < 2 + random.below(12); ++i) {
    const std::uint64_t read = random.below(num_read);
    readings.push_back(read < num_features ? read : input_wires(schema).size() - 1);
  }
  std::vector<std::string> trees;
  for (std::uint64_t g = 0; g < 1 + random.below(20); ++g)
    trees.push_back(random_tree(readings.size(), 6, random));
  const std::string architecture = fmt::format("gather({}) cal(2) tree({}) sum",
                                               fmt::join(readings, ","), fmt::join(trees, ","));
  Network network = random_network(schema, calibrators, architecture, random.split(1), random);
  if (random.uniform() < 0.8)
    set_forest_tables(network.layer(1), random, network.params().data() + network.offset(1));
  return network;
}

// The same as a forest, if it can be one.
inline ModelMember random_forest(const Schema& schema, MonotoneCalibrators calibrators,
                                 const Random& random) {
  Network trees = random_trees(schema, calibrators, random);
  if (auto forest = forest_of(trees, schema)) return *std::move(forest);
  return trees;
}

inline Model random_model_of(Schema schema, Random& random) {
  auto data = std::make_shared<ModelData>();
  data->schema = std::move(schema);
  data->training_json = "{}";
  const auto members = random.uniform() < 0.8 ? 1u : 3u;
  for (unsigned m = 0; m < members; ++m)
    data->members.push_back(random_network(data->schema, data->calibrators, random));
  if (data->schema.label.num_outputs() == 1 && random.split(79).uniform() < 0.3)
    data->members.push_back(random_forest(data->schema, data->calibrators, random.split(80)));
  if (random.split(81).uniform() < 0.5) {
    Random weights = random.split(82);
    for (ModelMember& member : data->members)
      member.weight = static_cast<float>(0.01 + weights.uniform());
  }
  return Model(std::move(data));
}

inline Model random_model(Random& random) { return random_model_of(random_schema(random), random); }

// Of four classes, such as a model can keep; the first one that is there is increasing.
inline std::vector<Monotonicity> random_promises(Random& random) {
  using enum Monotonicity;
  const std::vector<std::vector<Monotonicity>> kept = {{increasing, none, none, none},
                                                       {none, increasing, decreasing, none},
                                                       {none, increasing, none, increasing},
                                                       {increasing, decreasing, decreasing, none},
                                                       {increasing, increasing, none, decreasing}};
  return kept[random.below(kept.size())];
}

// One of classes without an order whose probabilities have directions.
inline Model random_model_of_classes(Random& random) {
  Schema schema = random_schema(random);
  schema.beside.clear();
  schema.label = {.name = "label",
                  .loss = Loss::log_loss,
                  .classes = {"a", "b", "c", "d"},
                  .promises = random_promises(random),
                  .offsets = {random.normal(), random.normal(), random.normal(), random.normal()}};
  return random_model_of(std::move(schema), random);
}

// One that gives a number for a row.
inline Model random_one_score_model(Random& random) {
  Model model = random_model(random);
  while (model.num_scores() > 1) model = random_model(random);
  return model;
}

// A row as a network reads it.
inline std::vector<double> random_row(const Network& network, Random& random) {
  std::vector<double> row;
  for (const Wire& wire : network.layer(0).inputs()) {
    double x = (wire.keypoints - 1) * random.uniform();
    if (wire.is_category()) x = static_cast<double>(random.below(wire.shares.size() + 1));
    if (wire.learns_missing && random.uniform() < 0.2) x = -1;
    if (wire.is_grid())
      x = static_cast<double>(random.below(static_cast<std::uint64_t>(wire.grid.num_codes())));
    row.push_back(x);
  }
  return row;
}

// The cells of a row as a predictor reads them, odd ones included.
inline std::vector<float> random_cells(const Schema& schema, Random& random) {
  std::vector<float> cells;
  for (const Feature& feature : schema.features) {
    const double odd = random.uniform();
    if (odd < 0.05) {
      cells.push_back(std::numeric_limits<float>::quiet_NaN());
    } else if (feature.kind != FeatureKind::number) {
      cells.push_back(static_cast<float>(random.below(feature.categories.size() + 1)));
    } else if (odd < 0.1) {
      cells.push_back(odd < 0.075 ? -INFINITY : INFINITY);
    } else {
      const std::size_t k = random.below(feature.keypoints.size() - 1);
      const double lo = feature.keypoints[k], hi = feature.keypoints[k + 1];
      cells.push_back(static_cast<float>(lo + random.uniform() * (hi - lo)));
    }
  }
  for (const Role role : kPredictionRoles) {
    if (!schema.beside.contains(role)) continue;
    const auto drawn = static_cast<float>(4 * random.normal());
    const double odd = random.uniform();
    cells.push_back(odd < 0.04             ? std::numeric_limits<float>::quiet_NaN()
                    : odd < 0.05           ? INFINITY
                    : odd < 0.06           ? -INFINITY
                    : odd < 0.08           ? 0.0f * drawn
                    : odd < 0.1            ? 1e-40f * drawn
                    : role == Role::offset ? drawn
                    : odd < 0.12           ? -drawn
                                           : std::exp2(drawn));
  }
  return cells;
}

// Such rows, one behind the other.
inline std::vector<float> random_rows(const Schema& schema, std::size_t count, Random& random) {
  std::vector<float> rows;
  for (std::size_t r = 0; r < count; ++r) {
    const std::vector<float> row = random_cells(schema, random);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

// The cells of such a row as a network reads them.
inline std::vector<double> encoded_row(const Schema& schema, std::span<const float> cells,
                                       std::size_t level = 0) {
  std::vector<float> row;
  for (std::size_t f = 0; f < schema.features.size(); ++f)
    row.push_back(encode_cell(schema.features[f], cells[f]));
  for (const Pair& pair : schema.pairs) row.push_back(encode_pair(pair, row.data()));
  if (schema.label.num_levels() > 1)
    row.push_back(static_cast<float>(schema.label.level_position(level)));
  return {row.begin(), row.end()};
}

}  // namespace espalier
