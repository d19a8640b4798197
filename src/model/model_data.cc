// SPDX-License-Identifier: Apache-2.0
#include "model/model_data.h"

#include <algorithm>
#include <numeric>

namespace espalier {

namespace {

GridAxis axis_of(const Pair::Side& side, const Schema& schema) {
  const Feature& feature = schema.features[side.feature];
  return {.vertices = static_cast<int>(side.vertices.size()),
          .rises = feature.monotonicity != Monotonicity::none,
          .has_missing = side.vertices.front() < 0,
          .is_number = feature.kind != FeatureKind::category};
}

Wire wire_of(const Pair& pair, const Schema& schema) {
  if (!pair.is_grid()) return {.shares = pair.shares};
  return {.monotone = true,
          .grid = {.first = axis_of(pair.first, schema),
                   .second = axis_of(pair.second, schema),
                   .steps = kGridSteps}};
}

}  // namespace

MemberCounts count_members(const ModelData& model) {
  MemberCounts counts;
  for (const ModelMember& member : model.members) {
    if (member.is_network()) {
      ++counts.networks;
    } else {
      counts.trees += static_cast<int>(member.forest().trees.size());
    }
  }
  return counts;
}

std::vector<Wire> input_wires(const Schema& schema) {
  std::vector<Wire> wires;
  for (const Feature& feature : schema.features) {
    wires.push_back({.monotone = feature.monotonicity != Monotonicity::none,
                     .keypoints = static_cast<int>(feature.keypoints.size()),
                     .learns_missing = feature.learns_missing,
                     .shares = feature.shares});
  }
  for (const Pair& pair : schema.pairs) wires.push_back(wire_of(pair, schema));
  if (const std::size_t levels = schema.label.num_levels(); levels > 1)
    wires.push_back({.monotone = true, .keypoints = static_cast<int>(levels)});
  return wires;
}

ScoreWires score_wires(const Label& label) {
  ScoreWires scores{.count = static_cast<int>(label.num_outputs())};
  for (int s = 0; s < scores.count; ++s) {
    if (label.score_direction(static_cast<std::size_t>(s)) == 0) scores.closed.push_back(s);
  }
  return scores;
}

void load_tile(const Dataset& data, const std::uint64_t* rows, int count, float* tile) {
  for (int r = 0; r < kTile; ++r) {
    const float* cells = data.row(rows[r < count ? r : 0]);
    for (std::size_t f = 0; f < data.num_features; ++f)
      tile[f * kTile + static_cast<std::size_t>(r)] = cells[f];
  }
}

std::vector<float> network_outputs(const Network& network, const Label& label, const Dataset& data,
                                   ThreadPool& pool) {
  return network_outputs(network, label, data, 0, data.num_rows, pool);
}

std::vector<float> network_outputs(const Network& network, const Label& label, const Dataset& data,
                                   std::size_t begin, std::size_t end, ThreadPool& pool) {
  const std::size_t num_outputs = label.num_outputs(), num_levels = label.num_levels();
  std::vector<float> outputs((end - begin) * label.num_scores());
  pool.run_ranges(end - begin, kTaskRows, [&](std::size_t task_begin, std::size_t task_end) {
    Network::Scratch scratch(network);
    std::uint64_t rows[kTile];
    for (std::size_t first = task_begin; first < task_end; first += kTile) {
      const auto count = static_cast<int>(std::min<std::size_t>(kTile, task_end - first));
      std::iota(rows, rows + count, std::uint64_t{begin + first});
      load_tile(data, rows, count, scratch.input());
      for (std::size_t level = 0; level < num_levels; ++level) {
        if (num_levels > 1) {
          std::fill_n(scratch.input() + data.num_features * kTile, kTile,
                      static_cast<float>(label.level_position(level)));
        }
        const float* tile = network.forward(scratch);
        for (std::size_t s = 0; s < num_outputs; ++s, tile += kTile) {
          for (int r = 0; r < count; ++r)
            outputs[(first + static_cast<std::size_t>(r)) * label.num_scores() + level + s] =
                tile[r];
        }
      }
    }
  });
  return outputs;
}

}  // namespace espalier
