// SPDX-License-Identifier: Apache-2.0
#include "support/identities.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "espalier/error.h"
#include "layers/lattices.h"
#include "layers/linear.h"

namespace espalier {

std::vector<float> minimum_lattice(int size) {
  std::vector<float> theta(std::size_t{1} << size, 0.0f);
  theta.back() = 1;
  return theta;
}

std::vector<float> maximum_lattice(int size) {
  std::vector<float> theta(std::size_t{1} << size, 1.0f);
  theta.front() = 0;
  return theta;
}

// A multilinear function is known by its values at the vertices. There each inner lattice has the
// value of one of its own vertices, and the outer one is interpolated between those.
std::vector<float> collapse(std::span<const float> outer,
                            const std::vector<std::vector<float>>& inner) {
  std::size_t vertices = 1;
  for (const std::vector<float>& theta : inner) vertices *= theta.size();
  std::vector<float> whole(vertices);
  for (std::size_t v = 0; v < vertices; ++v) {
    std::vector<double> fold(outer.begin(), outer.end());
    std::size_t rest = v;
    for (const std::vector<float>& theta : inner) {
      const double x = theta[rest % theta.size()];
      rest /= theta.size();
      for (std::size_t k = 0; 2 * k < fold.size(); ++k)
        fold[k] = fold[2 * k] + x * (fold[2 * k + 1] - fold[2 * k]);
      fold.resize(fold.size() / 2);
    }
    whole[v] = static_cast<float>(fold[0]);
  }
  return whole;
}

namespace {

// Bounds of every affine piece over the inputs: positions in [0, 1], and codes.
Range bounds_of_pieces(const Linear& layer, const float* params) {
  const auto outputs = static_cast<std::size_t>(layer.num_outputs());
  std::vector<float> least(params + layer.bias_begin(), params + layer.bias_begin() + outputs);
  std::vector<float> most = least;
  for (int j = 0; j < layer.num_inputs(); ++j) {
    const Wire& wire = layer.inputs()[static_cast<std::size_t>(j)];
    const Linear::Reach reached = layer.reach(j);
    const float* weights = params + layer.unit_begin(j);
    for (std::size_t i = 0; i < reached.width(); ++i) {
      float lowest = wire.is_category() ? weights[i] : 0, highest = lowest;
      for (int c = 0; c < wire.num_columns(); ++c) {
        const float w = weights[static_cast<std::size_t>(c) * reached.width() + i];
        lowest = std::min(lowest, w);
        highest = std::max(highest, w);
      }
      least[static_cast<std::size_t>(reached.begin) + i] += lowest;
      most[static_cast<std::size_t>(reached.begin) + i] += highest;
    }
  }
  const float lo = *std::min_element(least.begin(), least.end());
  const float hi = *std::max_element(most.begin(), most.end());
  return {lo, std::max(hi, lo + 1e-3f)};
}

}  // namespace

// Minimum and maximum commute with rising affine functions: the pieces are squeezed into [0, 1],
// and the last lattice, which has no bounds, stretches them back.
Network min_max_as_lattices(const Network& min_max) {
  const std::vector<LayerSpec>& layers = min_max.architecture().layers;
  if (layers.size() != 2 || layers[0].kind != LayerKind::lin ||
      layers[1].kind != LayerKind::minmax) {
    throw Error(ErrorKind::argument, fmt::format("'{}' is no min-max network: wanted lin minmax",
                                                 to_string(min_max.architecture())));
  }
  const LayerSpec &pieces = layers[0], &pool = layers[1];
  LayerSpec in_order{.kind = LayerKind::gather};
  in_order.wires.resize(static_cast<std::size_t>(pieces.outputs));
  std::iota(in_order.wires.begin(), in_order.wires.end(), 0);
  const LayerSpec minima = {.kind = LayerKind::lat,
                            .groups = pool.groups,
                            .group_size = pool.group_size,
                            .interpolation = Interpolation::simplex};
  LayerSpec maximum = minima;
  maximum.groups = 1;
  maximum.group_size = pool.groups;
  Network network({{pieces, in_order, minima, maximum}}, min_max.layer(0).inputs(),
                  MonotoneCalibrators::required, Random(1));

  const auto& layer = static_cast<const Linear&>(min_max.layer(0));
  const Range bounds = bounds_of_pieces(layer, min_max.layer_params(0));
  float* params = network.params().data();
  for (std::size_t i = 0; i < layer.num_params(); ++i) {
    const float shift = i < layer.bias_begin() ? 0 : bounds.lo;
    params[i] = (min_max.layer_params(0)[i] - shift) / (bounds.hi - bounds.lo);
  }
  const std::vector<float> minimum = minimum_lattice(pool.group_size);
  for (int g = 0; g < pool.groups; ++g)
    std::copy(minimum.begin(), minimum.end(),
              params + network.offset(2) + network.layer(2).unit_begin(g));
  const std::vector<float> stretched = maximum_lattice(pool.groups);
  std::transform(stretched.begin(), stretched.end(), params + network.offset(3),
                 [&](float theta) { return theta == 0 ? bounds.lo : bounds.hi; });
  return network;
}

}  // namespace espalier
