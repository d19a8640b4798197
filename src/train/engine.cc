// SPDX-License-Identifier: Apache-2.0
#include "train/engine.h"

#include <algorithm>
#include <optional>

#include "core/math.h"
#include "model/model_data.h"
#include "train/gradient_sum.h"
#include "train/pairwise_sum.h"

namespace espalier {

namespace {

constexpr std::size_t kBlockParams = 4096;
constexpr double kPi = 3.14159265358979323846;

struct Block {  // units of a layer that one task updates
  int layer;
  int first_unit;
  int last_unit;
};

std::vector<Block> blocks_of(const Network& network) {
  std::vector<Block> blocks;
  for (int l = 0; l < network.num_layers(); ++l) {
    const Layer& layer = network.layer(l);
    for (int first = 0; first < layer.num_units();) {
      int last = first + 1;
      while (last < layer.num_units() && layer.decay_scale(last) == layer.decay_scale(first) &&
             layer.unit_begin(last + 1) - layer.unit_begin(first) <= kBlockParams) {
        ++last;
      }
      blocks.push_back({l, first, last});
      first = last;
    }
  }
  return blocks;
}

Penalties penalties_of(const SettledOptions& options) {
  return {static_cast<float>(options->calibrator_laplacian),
          static_cast<float>(options->calibrator_hessian),
          static_cast<float>(options->lattice_laplacian),
          static_cast<float>(options->lattice_torsion)};
}

// The learning rate of the step after so many.
double rate_at(const EngineInput& in, std::int64_t step) {
  const TrainOptions& options = **in.options;
  const double progress = static_cast<double>(step) / static_cast<double>(in.total_steps);
  switch (options.schedule) {
    case Schedule::cosine:
      return options.learning_rate * 0.5 * (1 + portable_cos(kPi * progress));
    case Schedule::averaged:
      return options.learning_rate * rate_share(in.fall, step);
    case Schedule::automatic:
    case Schedule::constant:
      break;
  }
  return options.learning_rate;
}

// The parameters of step t = steps_done + 1, for a batch of this weight.
AdamStep next_adam_step(const EngineInput& in, double batch_weight, AdamState& adam) {
  const SettledOptions& options = *in.options;
  const double rate = rate_at(in, adam.steps_done);
  ++adam.steps_done;
  adam.beta1_power *= kAdamBeta1;
  adam.beta2_power *= kAdamBeta2;
  return {.learning_rate = static_cast<float>(rate),
          .decay = static_cast<float>(rate * options->weight_decay),
          .correction1 = static_cast<float>(1 / (1 - adam.beta1_power)),
          .correction2 = static_cast<float>(1 / (1 - adam.beta2_power)),
          .gradient_scale = static_cast<float>(1 / batch_weight),
          .epsilon = static_cast<float>(options->adam_epsilon)};
}

}  // namespace

class Engine::Work {
 public:
  Work(const EngineInput& input, const Trainee& trainee)
      : in_(input),
        network_(*trainee.network),
        adam_(*trainee.adam),
        num_shards_(num_shards_of((*input.options)->batch_size)),
        own_(own_shards(input.team->ranks(), num_shards_)),
        shard_sums_(static_cast<std::size_t>(own_.size())),
        blocks_(blocks_of(network_)),
        penalties_(penalties_of(*input.options)) {
    const std::size_t num_params = network_.params().size();
    for (int s = 0; s < own_.size(); ++s) {
      scratch_.emplace_back(network_);
      shard_grads_.emplace_back(num_params);
      output_grads_.emplace_back(static_cast<std::size_t>(network_.num_scores()) * kTile);
    }
    if (Ranks* const ranks = in_.team->ranks())
      over_ranks_.emplace(*ranks, num_shards_, num_params);
    if (penalties_.any()) penalty_.resize(num_params);
    adam_.mean.resize(num_params);
    adam_.variance.resize(num_params);
  }

  LossSum step(const Batch& batch) {
    ThreadPool& pool = in_.team->pool();
    pool.run(own_.size(), [&](int own) { run_shard(static_cast<std::size_t>(own), batch); });
    const LossSum sum = over_ranks_ ? over_ranks_->add(shard_grads_, shard_sums_)
                                    : pairwise_sum(std::span<const LossSum>(shard_sums_));
    // A batch whose rows all weigh nothing says nothing.
    const AdamStep step = next_adam_step(in_, sum.weight > 0 ? sum.weight : 1, adam_);
    pool.run(static_cast<int>(blocks_.size()),
             [&](int block) { update(blocks_[static_cast<std::size_t>(block)], step); });
    return sum;
  }

 private:
  // A shard takes the tiles shard, shard + num_shards, ... of the batch; `own` counts those that
  // are this rank's.
  void run_shard(std::size_t own, const Batch& batch) {
    const std::size_t shard = static_cast<std::size_t>(own_.first) + own;
    Network::Scratch& scratch = scratch_[own];
    network_.forget(scratch);
    LossSum sum;
    for (std::size_t begin = shard * kTile; begin < batch.rows.size();
         begin += static_cast<std::size_t>(num_shards_) * kTile) {
      const std::size_t count = std::min<std::size_t>(kTile, batch.rows.size() - begin);
      const auto rows = std::span(batch.rows).subspan(begin, count);
      load_tile(in_.objective->label(), batch, rows, scratch.input());
      const float* z = network_.forward(scratch);
      std::vector<float>& gradient = output_grads_[own];
      std::fill(gradient.begin(), gradient.end(), 0.0f);
      add_losses(*in_.objective, *batch.data, rows, batch.turn, z, gradient.data(), kTile, sum);
      network_.backward(scratch, gradient.data(), shard_grads_[own].data());
    }
    shard_sums_[own] = sum;
  }

  void update(const Block& block, const AdamStep& step) {
    const Layer& layer = network_.layer(block.layer);
    const std::size_t offset = network_.offset(block.layer);
    const std::size_t begin = offset + layer.unit_begin(block.first_unit);
    const std::size_t end = offset + layer.unit_begin(block.last_unit);
    if (begin == end) return;
    float* params = network_.params().data();
    if (penalties_.any()) penalize(block, begin, end);
    AdamStep own = step;
    // The paper's layers all have one rate.
    if ((*in_.options)->initialization != Initialization::paper)
      own.learning_rate *= layer.rate_scale();
    own.decay *= layer.decay_scale(block.first_unit);
    float* grads[kMaxShards];
    for (std::size_t s = 0; s < shard_grads_.size(); ++s) grads[s] = shard_grads_[s].data() + begin;
    if (over_ranks_) grads[0] = over_ranks_->total().data() + begin;
    adam_step(own, grads, over_ranks_ ? 1 : num_shards_,
              penalties_.any() ? penalty_.data() + begin : nullptr, params + begin,
              adam_.mean.data() + begin, adam_.variance.data() + begin, end - begin);
    const Projection how = (*in_.options)->projection;
    for (int unit = block.first_unit; unit < block.last_unit; ++unit) {
      const std::size_t at = offset + layer.unit_begin(unit);
      const ChainWeights of_the_step = {adam_.variance.data() + at, own.correction2, own.epsilon};
      // The paper's projections are the nearest in the plain distance.
      layer.project(params + at, unit, how, how == Projection::admm ? ChainWeights{} : of_the_step);
    }
  }

  // The gradient of the penalties of a block, whose parameters are [begin, end).
  void penalize(const Block& block, std::size_t begin, std::size_t end) {
    const Layer& layer = network_.layer(block.layer);
    const std::size_t offset = network_.offset(block.layer);
    std::fill(penalty_.begin() + static_cast<std::ptrdiff_t>(begin),
              penalty_.begin() + static_cast<std::ptrdiff_t>(end), 0.0f);
    for (int unit = block.first_unit; unit < block.last_unit; ++unit) {
      const std::size_t at = offset + layer.unit_begin(unit);
      layer.penalize(network_.params().data() + at, penalty_.data() + at, unit, penalties_);
    }
  }

  const EngineInput& in_;
  Network& network_;
  AdamState& adam_;
  int num_shards_;                                // of all ranks
  ShardRange own_;                                // of this one
  std::vector<Network::Scratch> scratch_;         // one per own shard
  std::vector<std::vector<float>> shard_grads_;   // one per own shard
  std::vector<std::vector<float>> output_grads_;  // one per own shard: [num_scores][kTile]
  std::vector<LossSum> shard_sums_;               // one per own shard
  std::optional<GradientSum> over_ranks_;         // nothing if this process is alone
  std::vector<Block> blocks_;
  Penalties penalties_;
  std::vector<float> penalty_;  // one per parameter; empty without penalties
};

Engine::Engine(const EngineInput& input, std::vector<Trainee> trainees) : input_(input) {
  for (const Trainee& trainee : trainees) work_.emplace_back(input_, trainee);
}

Engine::~Engine() = default;

void Engine::run(std::span<const std::vector<Batch>> steps, std::span<LossSum> sums) {
  for (std::size_t i = 0; i < work_.size(); ++i) {
    for (const Batch& batch : steps[i]) sums[i] += work_[i].step(batch);
  }
}

}  // namespace espalier
