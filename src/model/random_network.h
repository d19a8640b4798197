// SPDX-License-Identifier: Apache-2.0
// Random networks and rows for tests of laws that hold for all of them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "model/network.h"

namespace espalier {

inline std::vector<Wire> random_wires(Random& random) {
  std::vector<Wire> wires;
  const auto count = 2 + random.below(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    Wire wire = {.monotone = random.uniform() < 0.5,
                 .keypoints = static_cast<int>(2 + random.below(8))};
    if (random.uniform() < 0.25) wire = {.shares = {0.5f, 0.25f, 0.25f}};
    if (!wire.is_category() && random.uniform() < 0.3) wire.learns_missing = true;
    wires.push_back(wire);
  }
  wires.push_back({.monotone = true, .keypoints = 5});
  return wires;
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
  const char* ends[] = {" lin(1)", " sum", " lin(1) cal(6,-3:3)", " lin(4) lat(2x2) lat", " lat"};
  return text + ends[random.below(std::size(ends))];
}

// Parameters far from any start, then projected.
inline Network random_network(Random& random) {
  std::vector<Wire> wires = random_wires(random);
  Network network(parse_architecture(random_architecture(random)), std::move(wires),
                  random.uniform() < 0.5 ? MonotoneCalibrators::required : MonotoneCalibrators::all,
                  random.split(1));
  for (float& p : network.params()) p = static_cast<float>(0.5 + random.normal());
  for (int l = 0; l < network.num_layers(); ++l) {
    const Layer& layer = network.layer(l);
    float* params = network.params().data() + network.offset(l);
    for (int u = 0; u < layer.num_units(); ++u) {
      layer.project(params + layer.unit_begin(u), u,
                    random.uniform() < 0.5 ? Projection::sweep : Projection::exact);
    }
  }
  return network;
}

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

}  // namespace espalier
