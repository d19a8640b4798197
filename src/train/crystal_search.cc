// SPDX-License-Identifier: Apache-2.0
#include "train/crystal_search.h"

#include <fmt/format.h>

#include <chrono>

#include "espalier/error.h"
#include "model/model_data.h"
#include "train/crystals.h"
#include "train/initialize.h"
#include "train/streams.h"
#include "train/trainer.h"

namespace espalier {

namespace {

// The groups of features that a network over all pairs of them suggests. It is trained on the
// training rows alone, a quarter of the epochs.
std::vector<Group> search_groups(const Prepared& p, const LayerSpec& wanted, int keypoints,
                                 ThreadPool& pool, const TrainControl& control) {
  Random random = Random(p.options.seed).split(kCrystalStream);
  const std::vector<Group> groups =
      cover_pairs(static_cast<int>(p.schema.features.size()), wanted.group_size, random);
  LayerSpec gather{.kind = LayerKind::gather};
  for (const Group& group : groups)
    gather.wires.insert(gather.wires.end(), group.begin(), group.end());
  const Architecture architecture = {{gather,
                                      {.kind = LayerKind::cal, .keypoints = keypoints},
                                      {.kind = LayerKind::lat,
                                       .groups = static_cast<int>(groups.size()),
                                       .group_size = wanted.group_size},
                                      {.kind = LayerKind::sum}}};
  Network network(architecture, input_wires(p.schema), p.options.monotone_calibrators,
                  random.split(1));
  TrainOptions options = p.options;
  options.epochs = (options.epochs + 3) / 4;
  initialize(p.train, options, random.split(2), network);
  const Dataset no_rows;
  Trainer({.options = &options,
           .label = &p.schema.label,
           .metric = p.metric,
           .train = &p.train,
           .valid = &no_rows,
           .pool = &pool,
           .stop = control.stop,
           .on_progress = [](auto, double) {},
           .on_epoch = [](const Epoch&) {},
           .on_step = [] {},
           .on_stop = [] {}},
          network, random.split(3))
      .run();
  constexpr int kLattices = 2;  // the third layer
  const Layer& lattices = network.layer(kLattices);
  Interactions interactions(static_cast<int>(p.schema.features.size()));
  for (int g = 0; g < lattices.num_units(); ++g) {
    const float* theta = network.layer_params(kLattices) + lattices.unit_begin(g);
    interactions.add(groups[static_cast<std::size_t>(g)],
                     {theta, lattices.unit_begin(g + 1) - lattices.unit_begin(g)});
  }
  return crystallize(interactions, wanted.groups, wanted.group_size);
}

}  // namespace

void settle_wiring(Prepared& p, ThreadPool& pool, const TrainControl& control) {
  LayerSpec& first = p.architecture.layers.front();
  if (first.wiring != Wiring::crystals) return;
  const auto start = std::chrono::steady_clock::now();
  const auto features = static_cast<std::int64_t>(p.schema.features.size());
  const std::int64_t places = static_cast<std::int64_t>(first.groups) * first.group_size;
  if (first.group_size < 2 || first.group_size > features || places < features ||
      places > kMaxWires) {
    throw Error(ErrorKind::argument,
                fmt::format("architecture: {}: wanted lattices of 2 to {} features with a place "
                            "for each of the {}",
                            to_string(first), features, features));
  }
  const auto calibrators = input_calibrators(p.architecture);
  const int keypoints = calibrators ? calibrators->keypoints : 2;
  LayerSpec settled{.kind = LayerKind::gather};
  for (const Group& group : search_groups(p, first, keypoints, pool, control))
    settled.wires.insert(settled.wires.end(), group.begin(), group.end());
  first = settled;
  p.search_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace espalier
