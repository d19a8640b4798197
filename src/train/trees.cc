// SPDX-License-Identifier: Apache-2.0
#include "train/trees.h"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "boost/forest.h"
#include "boost/forest_network.h"
#include "model/model_data.h"
#include "train/held_out.h"
#include "train/policy.h"

namespace espalier {

std::optional<Network> grow_trees(const Prepared& prepared, const Dataset& train,
                                  const Dataset& valid, const Random& random, Team& team,
                                  const std::function<void(int)>& tell) {
  const std::vector<Wire> wires = input_wires(prepared.schema);
  const Objective objective(prepared.schema.label, train);
  const TrainOptions& options = *prepared.options;
  const auto goes_on = [&](std::span<const Tree> trees) {
    team.agree_on_stop();
    tell(static_cast<int>(trees.size()));
    return !team.stop_requested();
  };
  const Forest forest =
      grow_forest({.objective = &objective,
                   .wires = std::span(wires).first(prepared.schema.features.size()),
                   .level_wire = wires.size() - 1,
                   .train = &train,
                   .valid = &valid,
                   .plan = {options.trees, options.tree_leaves, options.tree_rate},
                   .random = random,
                   .pool = &team.pool(),
                   .goes_on = goes_on});
  if (forest.trees.empty() || team.stop_requested()) return std::nullopt;
  return network_of(forest, wires, options.monotone_calibrators);
}

std::vector<double> mixed(const std::vector<double>& networks, const std::vector<double>& trees,
                          double share) {
  std::vector<double> outputs;
  for (std::size_t i = 0; i < networks.size(); ++i)
    outputs.push_back((1 - share) * networks[i] + share * trees[i]);
  return outputs;
}

TreeShare share_of_trees(const Objective& objective, const Dataset& rows,
                         const std::vector<double>& networks, const std::vector<double>& trees) {
  const auto losses = [&](double share) {
    const std::vector<double> outputs = mixed(networks, trees, share);
    return losses_of(objective, rows, {outputs.begin(), outputs.end()});
  };
  const std::vector<double> without = losses(0);
  TreeShare best;
  std::vector<double> least = without;
  for (int k = 1; k < kMixingSteps; ++k) {
    const double share = static_cast<double>(k) / kMixingSteps;
    std::vector<double> own = losses(share);
    if (mean_of(own) >= mean_of(least)) continue;
    least = std::move(own);
    best.share = share;
  }
  const Fall fall = fall_of(without, least);
  if (!fall.is_clear(kClearErrors)) {
    return {.share = 0, .why = "averaging with trees does not clearly improve the validation loss"};
  }
  best.why =
      fmt::format("averaging with trees improves the validation loss by {:.1f} standard errors",
                  fall.mean / fall.error);
  return best;
}

}  // namespace espalier
