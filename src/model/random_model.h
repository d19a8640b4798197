// SPDX-License-Identifier: Apache-2.0
// Random schemas, networks, models and rows for tests of laws that hold for all of them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

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
    feature.words = {"red", "", "blue"};
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
    feature.words = {"low", "middle", "high"};
    feature.keypoints = {0, 1, 2};
  } else {
    feature.keypoints = random_keypoints(random);
    feature.typical = feature.keypoints[feature.keypoints.size() / 2];
  }
  return feature;
}

inline Schema random_schema(Random& random) {
  Schema schema;
  const auto count = 2 + random.below(6);
  for (std::uint64_t i = 0; i < count; ++i)
    schema.features.push_back(random_feature(random, fmt::format("x{}", i)));
  schema.features.push_back(
      {.name = "last", .monotonicity = Monotonicity::increasing, .keypoints = {-2, 0, 0.5f, 1, 3}});
  schema.label.name = "label";
  if (random.uniform() < 0.5) {
    schema.label.task = Task::classification;
    schema.label.negative = "no";
    schema.label.positive = "yes";
  }
  schema.label.offset = static_cast<float>(random.normal());
  schema.label.scale = static_cast<float>(0.1 + random.uniform());
  return schema;
}

// cal, then a few blocks of embedding, calibrators and lattices, then one of several ends.
inline std::string random_architecture(Random& random) {
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
  const char* ends[] = {" lin(1)",     " sum", " lin(1) cal(6,-3:3)", " lin(4) lat(2x2) lat",
                        " lin(6) lat", " lat", " lin(6) minmax(3x2)", " lin(5) relu lin(1)"};
  return text + ends[random.below(std::size(ends))];
}

// A start that follows its inputs, then noise, then projected.
inline Network random_network(const Schema& schema, MonotoneCalibrators calibrators,
                              const std::string& architecture, const Random& wiring,
                              Random& random) {
  Network network(parse_architecture(architecture), input_wires(schema), calibrators, wiring);
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
  const std::string architecture = random_architecture(random);
  return random_network(schema, calibrators, architecture, wiring, random);
}

inline Network random_network(Random& random) {
  const Schema schema = random_schema(random);
  return random_network(
      schema, random.uniform() < 0.5 ? MonotoneCalibrators::required : MonotoneCalibrators::all,
      random);
}

inline Model random_model(Random& random) {
  auto data = std::make_shared<ModelData>();
  data->schema = random_schema(random);
  data->training_json = "{}";
  const auto members = random.uniform() < 0.8 ? 1u : 3u;
  for (unsigned m = 0; m < members; ++m)
    data->members.push_back(random_network(data->schema, data->calibrators, random));
  return Model(std::move(data));
}

// A row as a network reads it.
inline std::vector<double> random_row(const Network& network, Random& random) {
  std::vector<double> row;
  for (const Wire& wire : network.layer(0).inputs()) {
    double x = (wire.keypoints - 1) * random.uniform();
    if (wire.is_category()) x = static_cast<double>(random.below(wire.shares.size() + 1));
    if (wire.learns_missing && random.uniform() < 0.2) x = -1;
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
      cells.push_back(static_cast<float>(random.below(feature.words.size() + 1)));
    } else if (odd < 0.1) {
      cells.push_back(odd < 0.075 ? -INFINITY : INFINITY);
    } else {
      const std::size_t k = random.below(feature.keypoints.size() - 1);
      const double lo = feature.keypoints[k], hi = feature.keypoints[k + 1];
      cells.push_back(static_cast<float>(lo + random.uniform() * (hi - lo)));
    }
  }
  return cells;
}

}  // namespace espalier
