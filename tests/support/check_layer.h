// SPDX-License-Identifier: Apache-2.0
// One test for every layer: the fast forward agrees with the reference, and the gradients agree
// with finite differences of the reference.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "layers/layer.h"

namespace espalier {

// Rows for a layer: positions (a few missing), codes (a few unseen) and numbers in [lo, hi].
inline std::vector<float> random_tile(const Layer& layer, Random& random, double lo, double hi) {
  std::vector<float> tile;
  for (const Wire& wire : layer.inputs()) {
    for (int r = 0; r < kTile; ++r) {
      double x = lo + (hi - lo) * random.uniform();
      if (wire.is_category()) x = static_cast<double>(random.below(wire.shares.size() + 1));
      if (wire.keypoints > 0) x = (wire.keypoints - 1) * random.uniform();
      if (wire.learns_missing && random.uniform() < 0.2) x = -1;
      if (wire.is_grid())
        x = static_cast<double>(random.below(static_cast<std::uint64_t>(wire.grid.num_codes())));
      tile.push_back(static_cast<float>(x));
    }
  }
  return tile;
}

// sum over rows and outputs of grad_out * output, by the reference.
inline double reference_sum(const Layer& layer, const std::vector<float>& params,
                            const std::vector<double>& tile, const std::vector<float>& grad_out) {
  std::vector<double> in(static_cast<std::size_t>(layer.num_inputs()));
  std::vector<double> out(static_cast<std::size_t>(layer.num_outputs()));
  double sum = 0;
  for (std::size_t r = 0; r < kTile; ++r) {
    for (std::size_t j = 0; j < in.size(); ++j) in[j] = tile[j * kTile + r];
    layer.evaluate(params.data(), in.data(), out.data());
    for (std::size_t i = 0; i < out.size(); ++i) sum += grad_out[i * kTile + r] * out[i];
  }
  return sum;
}

inline void check_forward(const Layer& layer, const std::vector<float>& params,
                          const std::vector<float>& tile) {
  std::vector<float> out(static_cast<std::size_t>(layer.num_outputs()) * kTile),
      scratch(layer.scratch_size());
  layer.forward(params.data(), tile.data(), out.data(), scratch.data());
  std::vector<double> row(static_cast<std::size_t>(layer.num_inputs()));
  std::vector<double> wanted(static_cast<std::size_t>(layer.num_outputs()));
  for (std::size_t r = 0; r < kTile; ++r) {
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = tile[j * kTile + r];
    layer.evaluate(params.data(), row.data(), wanted.data());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_NEAR(out[i * kTile + r], wanted[i], 2e-5 * (1 + std::abs(wanted[i])))
          << "output " << i << ", row " << r;
    }
  }
}

// The layer is piecewise linear in each parameter and each input, so differences are exact up to
// rounding except at a bend, which random inputs do not hit.
inline void check_layer(const Layer& layer, Random& random, double lo, double hi) {
  std::vector<float> params(layer.num_params());
  for (float& p : params) p = static_cast<float>(random.normal());
  const std::vector<float> tile = random_tile(layer, random, lo, hi);
  check_forward(layer, params, tile);

  std::vector<float> grad_out(static_cast<std::size_t>(layer.num_outputs()) * kTile),
      scratch(layer.scratch_size());
  for (float& g : grad_out) g = static_cast<float>(random.normal());
  std::vector<float> grad_in(tile.size(), 0.0f), grad_params(params.size(), 0.0f);
  layer.backward(params.data(), tile.data(), grad_out.data(), grad_in.data(), grad_params.data(),
                 scratch.data());

  const std::vector<double> x(tile.begin(), tile.end());
  // An unseen category adds no gradient: it is never trained on. Rows that have one are left out.
  std::vector<float> seen_grad_out = grad_out;
  for (std::size_t j = 0; j < layer.inputs().size(); ++j) {
    for (std::size_t r = 0; r < kTile; ++r) {
      const Wire& wire = layer.inputs()[j];
      if (!wire.is_category() || tile[j * kTile + r] < static_cast<float>(wire.num_categories()))
        continue;
      for (std::size_t i = 0; i < layer.outputs().size(); ++i) seen_grad_out[i * kTile + r] = 0;
    }
  }
  std::fill(grad_params.begin(), grad_params.end(), 0.0f);
  layer.backward(params.data(), tile.data(), seen_grad_out.data(), grad_in.data(),
                 grad_params.data(), scratch.data());
  for (std::size_t p = 0; p < params.size(); ++p) {
    std::vector<float> up = params, down = params;
    up[p] += 0.25f;
    down[p] -= 0.25f;
    const double slope = (reference_sum(layer, up, x, seen_grad_out) -
                          reference_sum(layer, down, x, seen_grad_out)) /
                         (static_cast<double>(up[p]) - down[p]);
    ASSERT_NEAR(grad_params[p], slope, 2e-4 * (1 + std::abs(slope))) << "parameter " << p;
  }
  for (std::size_t j = 0; j < layer.inputs().size(); ++j) {
    const Wire& wire = layer.inputs()[j];
    if (wire.keypoints > 0 || wire.is_category() || wire.is_grid())
      continue;  // the table has no gradient
    for (std::size_t r = 0; r < kTile; ++r) {
      std::vector<double> up = x, down = x;
      up[j * kTile + r] += 1e-6;
      down[j * kTile + r] -= 1e-6;
      const double slope = (reference_sum(layer, params, up, seen_grad_out) -
                            reference_sum(layer, params, down, seen_grad_out)) /
                           2e-6;
      ASSERT_NEAR(grad_in[j * kTile + r], slope, 2e-4 * (1 + std::abs(slope)))
          << "input " << j << ", row " << r;
    }
  }
}

}  // namespace espalier
