// SPDX-License-Identifier: Apache-2.0
#include "train/crystal_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/stopwatch.h"
#include "encode/pairs.h"
#include "espalier/error.h"
#include "layers/lattices.h"
#include "model/model_data.h"
#include "train/crystals.h"
#include "train/initialize.h"
#include "train/streams.h"
#include "train/trainer.h"

namespace espalier {

namespace {

using ProgressOfRows = std::function<void(std::int64_t, double)>;

// A quarter of a training.
SettledOptions search_options(const Problem& p) {
  return for_search(p.options, p.schema.label, p.train.num_rows, 0.25);
}

}  // namespace

void require_places(const LayerSpec& gather, std::size_t features) {
  const auto most = std::min<std::size_t>(features, kMaxLatticeSize);
  const auto size = static_cast<std::size_t>(gather.group_size);
  const auto groups = static_cast<std::size_t>(gather.groups);
  if (features > kMaxCrystalFeatures) {
    throw Error(ErrorKind::argument,
                fmt::format("architecture: {}: crystals search among at most {} columns, found {}; "
                            "wanted fewer (--drop) or random-lattices",
                            to_string(gather), kMaxCrystalFeatures, features));
  }
  if (size >= 2 && size <= most && groups * size >= features && groups <= kMaxWires / size) return;
  throw Error(ErrorKind::argument,
              fmt::format("architecture: {}: wanted lattices of 2 to {} features with a place for "
                          "each of the {}",
                          to_string(gather), most, features));
}

namespace {

// The groups of features that a network over all pairs of them suggests. It is trained on the
// training rows alone, a quarter of the epochs.
std::vector<Group> search_groups(const Problem& p, const LayerSpec& wanted, int keypoints,
                                 Team& team, const ProgressOfRows& progress) {
  Random random = Random(p.options->seed).split(kCrystalStream);
  const std::vector<Wire> wires = input_wires(p.schema);
  const std::vector<Group> groups =
      cover_pairs(static_cast<int>(wires.size()), wanted.group_size, random);
  LayerSpec gather{.kind = LayerKind::gather};
  for (const Group& group : groups)
    gather.wires.insert(gather.wires.end(), group.begin(), group.end());
  const Architecture architecture = {{gather,
                                      {.kind = LayerKind::cal, .keypoints = keypoints},
                                      {.kind = LayerKind::lat,
                                       .groups = static_cast<int>(groups.size()),
                                       .group_size = wanted.group_size},
                                      {.kind = LayerKind::sum}}};
  Network network(architecture, wires, p.options->monotone_calibrators, random.split(1));
  const SettledOptions options = search_options(p);
  const Objective objective(p.schema.label, p.train);
  initialize(p.train, p.schema.label, options, random.split(2), network, team.ranks());
  const Dataset no_rows;
  Trainer({.options = &options,
           .objective = &objective,
           .train = &p.train,
           .valid = &no_rows,
           .team = &team,
           .on_progress = progress,
           .on_epoch = [](const Epoch&) {},
           .on_run = [] {},
           .on_stop = [] {},
           .many_rows = p.many_rows},
          network, random.split(3))
      .run();
  constexpr int kLattices = 2;  // the third layer
  const Layer& lattices = network.layer(kLattices);
  Interactions interactions(static_cast<int>(wires.size()));
  for (int g = 0; g < lattices.num_units(); ++g) {
    const float* theta = network.layer_params(kLattices) + lattices.unit_begin(g);
    interactions.add(groups[static_cast<std::size_t>(g)],
                     {theta, lattices.unit_begin(g + 1) - lattices.unit_begin(g)});
  }
  return crystallize(interactions, wanted.groups, wanted.group_size);
}

}  // namespace

Problem choose_wiring(Problem p, Team& team, const TrainControl& control, std::int64_t& rows) {
  LayerSpec& first = p.architecture.layers.front();
  if (first.wiring != Wiring::crystals) return p;
  if (p.schema.label.has_many_classes()) {
    throw Error(
        ErrorKind::argument,
        fmt::format("architecture: {}: crystals are searched for with one number, and the "
                    "label '{}' has {} classes without an order; wanted another architecture",
                    to_string(first), p.schema.label.name, p.schema.label.classes.size()));
  }
  require_places(first, input_wires(p.schema).size());
  const Stopwatch watch;
  const auto num_rows = static_cast<std::int64_t>(p.train.num_rows);
  const std::int64_t before = std::exchange(rows, rows + num_rows * search_options(p)->epochs);
  Progress told{.options = &*p.options,
                .rows_total = rows + num_rows * p.options->epochs * p.options->ensemble};
  const auto tell = [&](std::int64_t rows_done, double loss) {
    if (!control.progress) return;
    told.rows_done = before + rows_done;
    told.loss = loss;
    told.seconds = watch.seconds();
    control.progress(told);
  };
  const auto calibrators = input_calibrators(p.architecture);
  const int keypoints = calibrators ? calibrators->keypoints : 2;
  LayerSpec settled{.kind = LayerKind::gather};
  for (const Group& group : search_groups(p, first, keypoints, team, tell))
    settled.wires.insert(settled.wires.end(), group.begin(), group.end());
  first = settled;
  return p;
}

}  // namespace espalier
