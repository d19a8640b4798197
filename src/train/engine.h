// SPDX-License-Identifier: Apache-2.0
// The engine of training: runs of steps on the flat buffers of one network or several. A step is
// the gradient of a batch, Adam, and the projection.
//
// All that a step reads beyond these buffers is in the batch, and all that it changes is in them,
// so another engine, such as one on a GPU, can take this one's place: it has the same constructor
// and run(), and when run() returns its results are in the buffers.
//
// Here a batch is cut into a fixed number of shards, each with a gradient buffer of its own, which
// are added as a tree; then blocks of units are updated and projected independently. So the bits do
// not depend on the number of threads, nor on that of ranks: each of them has some of the shards,
// and all of them do the same update.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/network.h"
#include "objective/loss.h"
#include "train/adam.h"
#include "train/batches.h"
#include "train/policy.h"
#include "train/settled_options.h"
#include "train/team.h"

namespace espalier {

/// What steps change besides the parameters.
struct AdamState {
  std::vector<float> mean, variance;  // one per parameter
  double beta1_power = 1, beta2_power = 1;
  std::int64_t steps_done = 0;
};

/// A network in training: its flat buffers.
struct Trainee {
  Network* network;
  AdamState* adam;
};

/// What all steps have in common.
struct EngineInput {
  const SettledOptions* options;
  const Objective* objective;
  std::int64_t total_steps;  // of each network, over all epochs: the cosine schedule needs it
  Team* team;
  RateDecay fall = {};  // of the averaged schedule
};

class Engine {
 public:
  /// Sizes the buffers of Adam, whose state is that before the first step. What `input` and
  /// `trainees` point at outlives the engine.
  Engine(const EngineInput& input, std::vector<Trainee> trainees);
  ~Engine();

  /// Network i does the steps[i], one after another, and adds the loss of each to sums[i], so that
  /// it does not matter how steps are cut into runs.
  void run(std::span<const std::vector<Batch>> steps, std::span<LossSum> sums);

 private:
  class Work;  // of one network

  EngineInput input_;
  std::vector<Work> work_;
};

}  // namespace espalier
