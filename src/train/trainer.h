// SPDX-License-Identifier: Apache-2.0
// Fitting one network: shuffled mini-batches, Adam, and a projection after every step.
//
// A batch is cut into a fixed number of shards, each with a gradient buffer of its own, and the
// buffers are added in order; then blocks of units are updated and projected independently. So the
// bits of the result do not depend on the number of threads.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "core/thread_pool.h"
#include "data/dataset.h"
#include "espalier/options.h"
#include "espalier/train.h"
#include "layers/kernels.h"
#include "model/network.h"

namespace espalier {

/// What a Trainer needs from outside; all of it outlives the Trainer.
struct TrainerInput {
  const TrainOptions* options;  // resolved
  const Label* label;
  Metric metric;
  const Dataset* train;
  const Dataset* valid;  // may be empty
  ThreadPool* pool;
  std::stop_token stop;
  /// Rows trained on so far, mean loss of the running epoch so far.
  std::function<void(std::int64_t, double)> on_progress;
  std::function<void(const Epoch&)> on_epoch;
};

class Trainer {
 public:
  Trainer(const TrainerInput& input, Network& network, Random random);

  /// Trains until the epochs are over, patience ends or a stop is requested; leaves the network
  /// with the parameters of the best epoch, which it returns.
  Epoch run();

 private:
  struct Block {  // units of a layer that one task updates
    int layer;
    int first_unit;
    int last_unit;
  };

  void make_blocks();
  bool run_epoch(Epoch& epoch);
  void step(std::span<const std::uint32_t> rows);
  void run_shard(int shard, std::span<const std::uint32_t> rows);
  void update_block(const Block& block, const AdamStep& step);
  AdamStep next_adam_step(double batch_weight);
  double validate();

  const TrainerInput in_;
  const TrainOptions& options_;
  Network& network_;
  Random random_;

  int num_shards_;
  std::vector<Network::Scratch> scratch_;        // one a shard
  std::vector<std::vector<float>> shard_grads_;  // one a shard
  std::vector<float*> shard_grad_pointers_;
  struct ShardSum {
    double loss = 0;
    double weight = 0;
  };
  std::vector<ShardSum> shard_sums_;
  std::vector<Block> blocks_;
  std::vector<float> mean_, variance_, penalty_;
  Penalties penalties_;

  std::vector<std::uint32_t> order_;
  std::int64_t steps_done_ = 0;
  std::int64_t steps_total_ = 0;
  std::int64_t rows_done_ = 0;
  double beta1_power_ = 1, beta2_power_ = 1;
  double epoch_loss_ = 0, epoch_weight_ = 0;
};

}  // namespace espalier
