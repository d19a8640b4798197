// SPDX-License-Identifier: Apache-2.0
#include "train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/math.h"
#include "espalier/error.h"
#include "model/model_data.h"
#include "objective/link.h"

namespace espalier {

namespace {

constexpr int kMaxShards = 8;
constexpr std::size_t kBlockParams = 4096;
constexpr double kPi = 3.14159265358979323846;

int shards_for(int batch_size) { return std::clamp(batch_size / kTile, 1, kMaxShards); }

}  // namespace

Trainer::Trainer(const TrainerInput& input, Network& network, Random random)
    : in_(input),
      options_(*input.options),
      network_(network),
      random_(random),
      num_shards_(shards_for(options_->batch_size)),
      shard_sums_(static_cast<std::size_t>(num_shards_)),
      penalties_{static_cast<float>(options_->calibrator_laplacian),
                 static_cast<float>(options_->calibrator_hessian),
                 static_cast<float>(options_->lattice_laplacian),
                 static_cast<float>(options_->lattice_torsion)},
      order_(in_.train->num_rows),
      steps_an_epoch_((static_cast<std::int64_t>(order_.size()) + options_->batch_size - 1) /
                      options_->batch_size) {
  for (int s = 0; s < num_shards_; ++s) {
    scratch_.emplace_back(network);
    shard_grads_.emplace_back(network.params().size());
    shard_grad_pointers_.push_back(shard_grads_.back().data());
  }
  if (penalties_.any()) penalty_.resize(network.params().size());
  std::iota(order_.begin(), order_.end(), 0u);
  state_.mean.resize(network.params().size());
  state_.variance.resize(network.params().size());
  state_.best_params.assign(network.params().begin(), network.params().end());
  make_blocks();
}

std::string Trainer::resume(TrainerState state) {
  const std::size_t size = network_.params().size();
  if (state.mean.size() != size || state.variance.size() != size ||
      state.best_params.size() != size) {
    return "its sizes do not match the network";
  }
  const bool possible = state.steps_done >= 0 && state.epochs_done >= 0 &&
                        state.epochs_done <= options_->epochs && state.best.epoch >= 0 &&
                        state.best.epoch <= state.epochs_done;
  state_ = std::move(state);
  if (!possible || steps_in_epoch() < 0 || steps_in_epoch() > steps_an_epoch_)
    return "its epochs and steps do not match";
  for (int e = 0; e < state_.epochs_done; ++e) random_.shuffle(std::span<std::uint32_t>(order_));
  return {};
}

void Trainer::make_blocks() {
  for (int l = 0; l < network_.num_layers(); ++l) {
    const Layer& layer = network_.layer(l);
    for (int first = 0; first < layer.num_units();) {
      int last = first + 1;
      while (last < layer.num_units() && layer.decay_scale(last) == layer.decay_scale(first) &&
             layer.unit_begin(last + 1) - layer.unit_begin(first) <= kBlockParams) {
        ++last;
      }
      blocks_.push_back({l, first, last});
      first = last;
    }
  }
}

// A shard takes the tiles shard, shard + num_shards, ... of the batch.
void Trainer::run_shard(int shard, std::span<const std::uint32_t> rows) {
  const auto s = static_cast<std::size_t>(shard);
  Network::Scratch& scratch = scratch_[s];
  LossSum sum;
  for (std::size_t begin = s * kTile; begin < rows.size();
       begin += static_cast<std::size_t>(num_shards_) * kTile) {
    const auto count = static_cast<int>(std::min<std::size_t>(kTile, rows.size() - begin));
    load_tile(*in_.train, rows.data() + begin, count, scratch.input());
    const float* z = network_.forward(scratch);
    float gradient[kTile] = {};
    add_losses(*in_.label, *in_.train, rows.subspan(begin, static_cast<std::size_t>(count)), z,
               gradient, sum);
    network_.backward(scratch, gradient, shard_grads_[s].data());
  }
  shard_sums_[s] = sum;
}

AdamStep Trainer::next_adam_step(double batch_weight) {
  const double progress = static_cast<double>(state_.steps_done) /
                          static_cast<double>(steps_an_epoch_ * options_->epochs);
  const double rate =
      options_->learning_rate *
      (options_->schedule == Schedule::cosine ? 0.5 * (1 + portable_cos(kPi * progress)) : 1);
  ++state_.steps_done;
  state_.beta1_power *= kAdamBeta1;
  state_.beta2_power *= kAdamBeta2;
  return {.learning_rate = static_cast<float>(rate),
          .decay = static_cast<float>(rate * options_->weight_decay),
          .correction1 = static_cast<float>(1 / (1 - state_.beta1_power)),
          .correction2 = static_cast<float>(1 / (1 - state_.beta2_power)),
          .gradient_scale = static_cast<float>(1 / batch_weight),
          .epsilon = static_cast<float>(options_->adam_epsilon)};
}

void Trainer::update_block(const Block& block, const AdamStep& step) {
  const Layer& layer = network_.layer(block.layer);
  const std::size_t offset = network_.offset(block.layer);
  const std::size_t begin = offset + layer.unit_begin(block.first_unit);
  const std::size_t end = offset + layer.unit_begin(block.last_unit);
  if (begin == end) return;
  float* params = network_.params().data();
  if (penalties_.any()) {
    std::fill(penalty_.begin() + static_cast<std::ptrdiff_t>(begin),
              penalty_.begin() + static_cast<std::ptrdiff_t>(end), 0.0f);
    for (int unit = block.first_unit; unit < block.last_unit; ++unit) {
      const std::size_t at = offset + layer.unit_begin(unit);
      layer.penalize(params + at, penalty_.data() + at, unit, penalties_);
    }
  }
  AdamStep own = step;
  own.learning_rate *= layer.rate_scale();
  own.decay *= layer.decay_scale(block.first_unit);
  float* grads[kMaxShards];
  for (int s = 0; s < num_shards_; ++s)
    grads[s] = shard_grad_pointers_[static_cast<std::size_t>(s)] + begin;
  adam_step(own, grads, num_shards_, penalties_.any() ? penalty_.data() + begin : nullptr,
            params + begin, state_.mean.data() + begin, state_.variance.data() + begin,
            end - begin);
  for (int unit = block.first_unit; unit < block.last_unit; ++unit) {
    const std::size_t at = offset + layer.unit_begin(unit);
    layer.project(params + at, unit, options_->projection,
                  {state_.variance.data() + at, own.correction2, own.epsilon});
  }
}

void Trainer::step(std::span<const std::uint32_t> rows) {
  in_.pool->run(num_shards_, [&](int shard) { run_shard(shard, rows); });
  LossSum batch;
  for (const LossSum& sum : shard_sums_) batch += sum;
  state_.epoch_loss += batch.loss;
  state_.epoch_weight += batch.weight;
  // A batch whose rows all weigh nothing says nothing.
  const AdamStep step = next_adam_step(batch.weight > 0 ? batch.weight : 1);
  in_.pool->run(static_cast<int>(blocks_.size()),
                [&](int block) { update_block(blocks_[static_cast<std::size_t>(block)], step); });
}

std::int64_t Trainer::steps_in_epoch() const {
  return state_.steps_done - state_.epochs_done * steps_an_epoch_;
}

std::int64_t Trainer::rows_done() const {
  const auto rows = static_cast<std::int64_t>(order_.size());
  return state_.epochs_done * rows + std::min(steps_in_epoch() * options_->batch_size, rows);
}

double Trainer::mean_loss() const {
  if (steps_in_epoch() == 0) return 0;
  return loss_in_label_units(*in_.label, state_.epoch_loss / state_.epoch_weight);
}

// Does the steps that the epoch still lacks; returns false if it was stopped before its end.
bool Trainer::run_epoch() {
  constexpr int kProgressSteps = 16;
  random_.shuffle(std::span<std::uint32_t>(order_));
  const auto batch = static_cast<std::size_t>(options_->batch_size);
  for (auto begin = static_cast<std::size_t>(steps_in_epoch()) * batch; begin < order_.size();
       begin += batch) {
    if (in_.stop.stop_requested()) return false;
    step({order_.data() + begin, std::min(batch, order_.size() - begin)});
    if (state_.steps_done % kProgressSteps == 0) in_.on_progress(rows_done(), mean_loss());
    in_.on_step();
  }
  return true;
}

double Trainer::validate() {
  if (in_.valid->num_rows == 0) return std::numeric_limits<double>::quiet_NaN();
  std::vector<float> scores = network_outputs(network_, *in_.valid, *in_.pool);
  for (float& score : scores) score = score_of(*in_.label, score);
  return compute_metric(options_->metric, in_.valid->labels, scores, in_.valid->weights);
}

// Judges the running epoch and keeps its parameters if it is the best; returns false if training
// has diverged, so that an earlier one must do.
bool Trainer::finish_epoch() {
  Epoch epoch{.epoch = state_.epochs_done + 1, .train_loss = mean_loss()};
  Epoch& best = state_.best;
  const auto is_finite = [](float value) { return std::isfinite(value); };
  if (!std::isfinite(epoch.train_loss) ||
      !std::all_of(network_.params().begin(), network_.params().end(), is_finite)) {
    if (best.epoch > 0) return false;
    throw Error(
        ErrorKind::diverged,
        fmt::format(
            "training diverged in its first epoch; learning_rate {} is too high for this table",
            options_->learning_rate));
  }
  epoch.valid_metric = validate();
  const double sign = larger_is_better(options_->metric) ? -1 : 1;
  // Without validation rows, or where the metric is not defined, the last epoch is the best.
  const bool better = best.epoch == 0 || std::isnan(epoch.valid_metric) ||
                      std::isnan(best.valid_metric) ||
                      sign * epoch.valid_metric < sign * best.valid_metric;
  if (better) {
    best = epoch;
    std::copy(network_.params().begin(), network_.params().end(), state_.best_params.begin());
  }
  ++state_.epochs_done;
  state_.epoch_loss = state_.epoch_weight = 0;
  in_.on_epoch(epoch);
  return true;
}

bool Trainer::is_over() const {
  return state_.epochs_done >= options_->epochs ||
         (options_->patience > 0 && state_.epochs_done - state_.best.epoch >= options_->patience);
}

Epoch Trainer::run() {
  while (!is_over() && run_epoch() && finish_epoch()) {
  }
  if (in_.stop.stop_requested()) in_.on_stop();
  if (state_.best.epoch == 0) finish_epoch();  // stopped within the first epoch: better than none
  std::copy(state_.best_params.begin(), state_.best_params.end(), network_.params().begin());
  return state_.best;
}

}  // namespace espalier
