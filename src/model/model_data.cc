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
  std::vector<float> outputs(data.num_rows);
  pool.run_ranges(data.num_rows, kTaskRows, [&](std::size_t begin, std::size_t end) {
    Network::Scratch scratch(network);
    std::uint32_t rows[kTile];
    for (std::size_t first = begin; first < end; first += kTile) {
      const auto count = static_cast<int>(std::min<std::size_t>(kTile, end - first));
      std::iota(rows, rows + count, static_cast<std::uint32_t>(first));
      load_tile(data, rows, count, scratch.input());
      std::copy_n(network.forward(scratch), count, outputs.data() + first);
    }
  });
  return outputs;
}

}  // namespace espalier
