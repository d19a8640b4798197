// SPDX-License-Identifier: Apache-2.0
#include "model/model_data.h"

#include <algorithm>
#include <numeric>

namespace espalier {

std::vector<Wire> input_wires(const Schema& schema) {
  std::vector<Wire> wires;
  for (const Feature& feature : schema.features) {
    wires.push_back({.monotone = feature.monotonicity != Monotonicity::none,
                     .keypoints = static_cast<int>(feature.keypoints.size()),
                     .learns_missing = feature.learns_missing,
                     .shares = feature.shares});
  }
  for (const Pair& pair : schema.pairs) wires.push_back({.shares = pair.shares});
  return wires;
}

void load_tile(const Dataset& data, const std::uint32_t* rows, int count, float* tile) {
  for (int r = 0; r < kTile; ++r) {
    const float* cells = data.row(rows[r < count ? r : 0]);
    for (std::size_t f = 0; f < data.num_features; ++f)
      tile[f * kTile + static_cast<std::size_t>(r)] = cells[f];
  }
}

std::vector<float> network_outputs(const Network& network, const Dataset& data, ThreadPool& pool) {
  const auto num_scores = static_cast<std::size_t>(network.num_scores());
  std::vector<float> outputs(data.num_rows * num_scores);
  pool.run_ranges(data.num_rows, kTaskRows, [&](std::size_t begin, std::size_t end) {
    Network::Scratch scratch(network);
    std::uint32_t rows[kTile];
    for (std::size_t first = begin; first < end; first += kTile) {
      const auto count = static_cast<int>(std::min<std::size_t>(kTile, end - first));
      std::iota(rows, rows + count, static_cast<std::uint32_t>(first));
      load_tile(data, rows, count, scratch.input());
      const float* tile = network.forward(scratch);
      for (std::size_t s = 0; s < num_scores; ++s, tile += kTile) {
        for (int r = 0; r < count; ++r)
          outputs[(first + static_cast<std::size_t>(r)) * num_scores + s] = tile[r];
      }
    }
  });
  return outputs;
}

}  // namespace espalier
