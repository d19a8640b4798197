// SPDX-License-Identifier: Apache-2.0
// Fitting one network: shuffled mini-batches, Adam, and a projection after every step.
//
// A batch is cut into a fixed number of shards, each with a gradient buffer of its own, and the
// buffers are added in order; then blocks of units are updated and projected independently. So the
// bits of the result do not depend on the number of threads.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/thread_pool.h"
#include "data/dataset.h"
#include "espalier/train.h"
#include "layers/kernels.h"
#include "model/network.h"
#include "objective/loss.h"
#include "train/settled_options.h"

namespace espalier {

/// What a Trainer needs from outside; all of it outlives the Trainer.
struct TrainerInput {
  const SettledOptions* options;
  const Label* label;
  const Dataset* train;
  const Dataset* valid;  // may be empty
  ThreadPool* pool;
  std::stop_token stop;
  /// Rows trained on so far, mean loss of the running epoch so far.
  std::function<void(std::int64_t, double)> on_progress;
  std::function<void(const Epoch&)> on_epoch;
  /// After each step, and when a stop request ends training: moments at which state() and the
  /// parameters of the network are enough to continue.
  std::function<void()> on_step;
  std::function<void()> on_stop;
};

/// All that changes from step to step, besides the parameters of the network. The order of the rows
/// is not here: it follows from the random numbers and the epoch.
struct TrainerState {
  std::vector<float> mean, variance;  // Adam's, one per parameter
  double beta1_power = 1, beta2_power = 1;
  std::int64_t steps_done = 0;
  int epochs_done = 0;  // judged; the steps beyond them are of the running epoch
  double epoch_loss = 0, epoch_weight = 0;  // sums of the running epoch
  Epoch best;                               // epoch 0 before the first is judged
  std::vector<float> best_params;
};

class Trainer {
 public:
  Trainer(const TrainerInput& input, Network& network, Random random);

  const TrainerState& state() const { return state_; }

  /// Continues from a state that another Trainer of the same input had; the network must have the
  /// parameters of that moment. To be called before run. Returns why the state cannot be used, or
  /// an empty string.
  std::string resume(TrainerState state);

  /// Trains until the epochs are over, patience ends or a stop is requested; leaves the network
  /// with the parameters of the best epoch, which it returns.
  Epoch run();

  /// Over all epochs.
  std::int64_t rows_done() const;

 private:
  struct Block {  // units of a layer that one task updates
    int layer;
    int first_unit;
    int last_unit;
  };

  void make_blocks();
  bool is_over() const;
  bool run_epoch();
  bool finish_epoch();
  std::int64_t steps_in_epoch() const;
  double mean_loss() const;
  void step(std::span<const std::uint32_t> rows);
  void run_shard(int shard, std::span<const std::uint32_t> rows);
  void update_block(const Block& block, const AdamStep& step);
  AdamStep next_adam_step(double batch_weight);
  double validate();

  const TrainerInput in_;
  const SettledOptions& options_;
  Network& network_;
  Random random_;

  int num_shards_;
  std::vector<Network::Scratch> scratch_;        // one per shard
  std::vector<std::vector<float>> shard_grads_;  // one per shard
  std::vector<float*> shard_grad_pointers_;
  std::vector<LossSum> shard_sums_;
  std::vector<Block> blocks_;
  std::vector<float> penalty_;
  Penalties penalties_;

  std::vector<std::uint32_t> order_;
  std::int64_t steps_an_epoch_;
  TrainerState state_;
};

}  // namespace espalier
