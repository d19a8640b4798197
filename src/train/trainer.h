// SPDX-License-Identifier: Apache-2.0
// The loop of epochs of one network: batches go to the engine, epochs are evaluated, the best one
// is kept. Averaged training evaluates weight averages instead, and stops when these stop
// improving.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "encode/dataset.h"
#include "espalier/train.h"
#include "model/network.h"
#include "objective/loss.h"
#include "train/batches.h"
#include "train/engine.h"
#include "train/policy.h"
#include "train/settled_options.h"
#include "train/team.h"

namespace espalier {

/// What a Trainer needs from outside; all of it outlives the Trainer.
struct TrainerInput {
  const SettledOptions* options;
  const Objective* objective;
  const Dataset* train;
  const Dataset* valid;  // may be empty
  Team* team;
  /// Rows trained on so far, mean loss of the running epoch so far.
  std::function<void(std::int64_t, double)> on_progress;
  std::function<void(const Epoch&)> on_epoch;
  /// After each run of steps, and when a stop request ends training: moments at which state() and
  /// the parameters of the network are enough to continue.
  std::function<void()> on_run;
  std::function<void()> on_stop;
  bool runs_of_one_step = false;  // else as long as suits
  std::size_t many_rows = kManyRows;
};

/// All that changes from step to step, besides the parameters of the network. The order of the rows
/// is not here: it follows from the random numbers and the epoch.
struct TrainerState {
  AdamState adam;
  int epochs_done = 0;  // the steps beyond them are of the running epoch
  LossSum epoch_loss;   // of the running epoch
  Epoch best;           // epoch 0 before the first is evaluated
  std::vector<float> best_params;
  std::vector<float> averages;  // of the parameters, one after another; empty unless averaged
  int improved = 0;             // the epoch whose averages were last clearly better ...
  double improved_metric = 0;   // ... and their metric
};

/// The metric of a network's outputs, [row][num_scores]. NaN if there are no rows, or if it is not
/// defined on them.
double metric_of(Metric metric, const Label& label, const Dataset& data,
                 const std::vector<float>& outputs);

/// The metric of the model that predicts the same for all rows.
double metric_of_constant(Metric metric, const Label& label, const Dataset& data);

class Trainer {
 public:
  Trainer(const TrainerInput& input, Network& network, Random random);

  const TrainerState& state() const { return state_; }

  /// Continues from a state that another Trainer of the same input had; the network must have the
  /// parameters of that moment. To be called before run. Returns why the state cannot be used, or
  /// an empty string.
  std::string resume(TrainerState state);

  /// Trains until the epochs are over, there is no improvement for as long as is waited for, or a
  /// stop is requested; leaves the network with the parameters of the best epoch, which it returns:
  /// number 0 if it was stopped before the first had ended.
  Epoch run();

  bool is_over() const;

  /// Over all epochs.
  std::int64_t rows_done() const;

  /// How many it will be, as far as can be told now.
  std::int64_t expected_rows() const;

 private:
  bool is_averaged() const { return options_->schedule == Schedule::averaged; }
  bool stops_by_itself() const { return is_averaged() && !std::isnan(constant_); }
  bool run_epoch();
  bool finish_epoch();
  void add_to_averages();
  bool is_out_of_patience(int epoch) const;
  bool averages_are_due(int epoch) const;
  void evaluate_averages(Epoch epoch);
  void evaluate(Epoch& epoch);
  std::int64_t run_length() const;
  std::int64_t steps_in_epoch() const;
  double mean_loss() const;
  double validate();
  double metric_of(const std::vector<float>& outputs) const;

  const TrainerInput in_;
  const SettledOptions& options_;
  const double constant_;  // the metric of the model that predicts the same for all rows
  Network& network_;
  Batches batches_;
  // Fewer where an epoch has fewer, so that there are averages after the first.
  const std::int64_t average_steps_ =
      std::min<std::int64_t>(kAverageSteps, batches_.steps_per_epoch());
  TrainerState state_;
  Engine engine_;  // works on the network and on state_
};

}  // namespace espalier
