// SPDX-License-Identifier: Apache-2.0
#include "model/network.h"

#include <fmt/format.h>

#include <algorithm>

namespace espalier {

namespace {

// So many floats that they end with a cache line.
std::size_t whole_lines(std::size_t floats) {
  constexpr std::size_t kLine = 16;
  return (floats + kLine - 1) / kLine * kLine;
}

}  // namespace

Network::Network(const Architecture& architecture, std::vector<Wire> inputs,
                 MonotoneCalibrators calibrators, Random random, const BuildLimits& limits,
                 const ScoreWires& scores) {
  BuiltLayers built =
      build_layers(architecture, std::move(inputs), calibrators, random, limits, scores);
  architecture_ = std::move(built.architecture);
  layers_ = std::move(built.layers);
  build_memory_ = built.memory;
  std::size_t total = 0;
  for (const auto& layer : layers_) {
    offsets_.push_back(total);
    total += layer->num_params();
  }
  params_.resize(total);
}

double Network::largest_input() const {
  int largest = 0;
  for (const Wire& wire : layer(0).inputs())
    largest = std::max({largest, wire.keypoints, wire.num_categories(),
                        wire.is_grid() ? wire.grid.num_codes() : 0});
  return largest;
}

Network::Scratch::Scratch(const Network& network) {
  std::size_t total = 0, widest = 0, shared = 0;
  const auto add_tile = [&](int wires) {
    tile_begin.push_back(total);
    total += static_cast<std::size_t>(wires) * kTile;
    widest = std::max(widest, static_cast<std::size_t>(wires));
  };
  add_tile(network.num_inputs());
  for (int l = 0; l < network.num_layers(); ++l) {
    add_tile(network.layer(l).num_outputs());
    if (!network.layer(l).keeps_scratch())
      shared = std::max(shared, network.layer(l).scratch_size());
  }
  std::size_t end = whole_lines(shared);
  for (int l = 0; l < network.num_layers(); ++l) {
    const Layer& layer = network.layer(l);
    layer_begin.push_back(layer.keeps_scratch() ? end : 0);
    if (layer.keeps_scratch()) end += whole_lines(layer.scratch_size());
  }
  tiles.resize(total);
  grad_width = widest * kTile;
  grads.resize(2 * grad_width);
  layers.resize(end);
}

void Network::forget(Scratch& scratch) const {
  for (int l = 0; l < num_layers(); ++l) {
    if (layer(l).keeps_scratch()) layer(l).forget(scratch.layer(l));
  }
}

const float* Network::forward(Scratch& scratch) const {
  for (int l = 0; l < num_layers(); ++l) {
    layer(l).forward(layer_params(l), scratch.tile(l), scratch.tile(l + 1), scratch.layer(l));
  }
  return scratch.tile(num_layers());
}

void Network::backward(Scratch& scratch, const float* grad_out, float* grad_params) const {
  float* spare = scratch.grads.data();
  float* other = spare + scratch.grad_width;
  for (int l = num_layers() - 1; l >= 0; --l) {
    float* grad_in = l > 0 ? spare : nullptr;
    layer(l).backward(layer_params(l), scratch.tile(l), grad_out, grad_in, grad_params + offset(l),
                      scratch.layer(l));
    grad_out = spare;
    std::swap(spare, other);
  }
}

// Layers without parameters sum or choose, so that what they give grows with what they read.
void Network::project() {
  for (int l = 0; l < num_layers(); ++l) {
    const Layer& own = layer(l);
    float* const params = params_.data() + offset(l);
    for (int unit = 0; unit < own.num_units(); ++unit)
      own.project(params + own.unit_begin(unit), unit, Projection::exact, {});
  }
}

std::vector<double> Network::evaluate(std::span<const double> row) const {
  std::vector<double> in(row.begin(), row.end()), out;
  for (int l = 0; l < num_layers(); ++l) {
    out.resize(static_cast<std::size_t>(layer(l).num_outputs()));
    layer(l).evaluate(layer_params(l), in.data(), out.data());
    in.swap(out);
  }
  return in;
}

std::vector<float> all_constants(const Network& network) {
  std::vector<float> constants;
  for (int l = 0; l < network.num_layers(); ++l) {
    const auto own = network.layer(l).constants();
    constants.insert(constants.end(), own.begin(), own.end());
  }
  return constants;
}

std::string set_constants(std::span<const float> constants, Network& network) {
  if (all_constants(network).size() != constants.size())
    return "constants do not match the architecture";
  for (int l = 0; l < network.num_layers(); ++l) {
    const auto own = network.layer(l).constants();
    std::copy_n(constants.begin(), own.size(), own.begin());
    constants = constants.subspan(own.size());
    const std::string error = network.layer(l).constants_error();
    if (!error.empty()) return fmt::format("layer {}: {}", l + 1, error);
  }
  return {};
}

}  // namespace espalier
