// SPDX-License-Identifier: Apache-2.0
#include "train/initialize.h"

#include <algorithm>
#include <cmath>

#include "model/model_data.h"
#include "train/batches.h"
#include "train/rank_rows.h"

namespace espalier {

namespace {

constexpr int kSampleTiles = 32;

// Every tile of the sample at one place in the network: [tiles][wires][kTile].
using Sample = std::vector<std::vector<float>>;

Sample draw_sample(const Dataset& train, const Label& label, int num_wires, Random& random,
                   Ranks* ranks) {
  std::vector<std::uint64_t> drawn(kSampleTiles * kTile);
  for (std::uint64_t& row : drawn) row = random.below(train.num_rows);
  Rows rows(drawn.begin(), drawn.end());
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  const Dataset some = subset(train, rows, ranks);
  Sample sample;
  for (std::size_t first = 0; first < drawn.size(); first += kTile) {
    const auto of_tile = std::span(drawn).subspan(first, kTile);
    std::uint64_t places[kTile];
    std::ranges::transform(of_tile, places, [&](std::uint64_t row) {
      return static_cast<std::uint64_t>(std::ranges::lower_bound(rows, row) - rows.begin());
    });
    std::vector<float>& tile = sample.emplace_back(static_cast<std::size_t>(num_wires) * kTile);
    load_tile(some, places, kTile, tile.data());
    load_levels(label, of_tile, 0, tile.data() + some.num_features * kTile);
  }
  return sample;
}

std::vector<WireStats> stats_of(const Sample& sample, int num_wires) {
  std::vector<WireStats> stats;
  for (int wire = 0; wire < num_wires; ++wire) {
    double sum = 0, squares = 0;
    for (const std::vector<float>& tile : sample) {
      for (int r = 0; r < kTile; ++r) {
        const double x = tile[static_cast<std::size_t>(wire * kTile + r)];
        sum += x;
        squares += x * x;
      }
    }
    const double n = static_cast<double>(sample.size()) * kTile;
    const double mean = sum / n;
    const double variance = std::max(squares / n - mean * mean, 0.0);
    stats.push_back({static_cast<float>(mean), static_cast<float>(std::sqrt(variance))});
  }
  return stats;
}

Sample outputs_of(const Layer& layer, const float* params, const Sample& sample) {
  std::vector<float> scratch(layer.scratch_size());
  Sample outputs;
  for (const std::vector<float>& tile : sample) {
    outputs.emplace_back(static_cast<std::size_t>(layer.num_outputs()) * kTile);
    layer.forward(params, tile.data(), outputs.back().data(), scratch.data());
  }
  return outputs;
}

}  // namespace

void initialize(const Dataset& train, const Label& label, const SettledOptions& options,
                Random random, Network& network, Ranks* ranks) {
  Sample sample = draw_sample(train, label, network.num_inputs(), random, ranks);
  for (int l = 0; l < network.num_layers(); ++l) {
    Layer& layer = network.layer(l);
    float* params = network.params().data() + network.offset(l);
    const std::vector<WireStats> stats = stats_of(sample, layer.num_inputs());
    layer.initialize(params, {options->initialization, static_cast<float>(options->lattice_noise),
                              stats, &random});
    for (int unit = 0; unit < layer.num_units(); ++unit) {
      layer.project(params + layer.unit_begin(unit), unit, Projection::exact, {});
    }
    Sample out = outputs_of(layer, params, sample);
    if (options->initialization == Initialization::data &&
        layer.adjust(params, stats_of(out, layer.num_outputs())))
      out = outputs_of(layer, params, sample);
    sample = std::move(out);
  }
}

}  // namespace espalier
