// SPDX-License-Identifier: Apache-2.0
#include "train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "espalier/error.h"
#include "model/model_data.h"
#include "objective/link.h"
#include "objective/metrics.h"

namespace espalier {

namespace {

// Progress is told this often, and runs of steps end there.
constexpr std::int64_t kProgressSteps = 16;
// A run is not much longer than this, so that a request to stop is soon heard.
constexpr std::int64_t kRowsOfARun = 4096;

// What can lead out of the finite numbers: "learning_rate 3 or lattice_torsion 1e6 is".
std::string steep_options(const TrainOptions& options) {
  std::string text = fmt::format("learning_rate {}", options.learning_rate);
  const std::pair<const char*, double> penalties[] = {
      {"weight_decay", options.weight_decay},
      {"calibrator_laplacian", options.calibrator_laplacian},
      {"calibrator_hessian", options.calibrator_hessian},
      {"lattice_laplacian", options.lattice_laplacian},
      {"lattice_torsion", options.lattice_torsion}};
  for (const auto& [name, value] : penalties) {
    if (value >= 1) text += fmt::format(" or {} {}", name, value);
  }
  return text + " is";
}

}  // namespace

double metric_of(Metric metric, const Label& label, const Dataset& data,
                 const std::vector<float>& outputs) {
  std::vector<float> scores = outputs;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const std::size_t row = i / label.num_scores();
    scores[i] = score_of(label, i % label.num_scores(), outputs[i], data.offset(row));
  }
  return evaluate(metric, label, data, scores);
}

double metric_of_constant(Metric metric, const Label& label, const Dataset& data) {
  if (data.num_rows == 0) return std::numeric_limits<double>::quiet_NaN();
  return metric_of(metric, label, data, std::vector<float>(data.num_rows * label.num_scores()));
}

Trainer::Trainer(const TrainerInput& input, Network& network, Random random)
    : in_(input),
      options_(*input.options),
      constant_(metric_of_constant(options_->metric, input.objective->label(), *input.valid)),
      network_(network),
      batches_(*input.train, options_->batch_size,
               own_shards(input.team->ranks(), num_shards_of(options_->batch_size)), random,
               input.many_rows),
      engine_({.options = input.options,
               .objective = input.objective,
               .total_steps = batches_.steps_per_epoch() * options_->epochs,
               .team = input.team,
               .fall = rate_decay(
                   **input.options, input.objective->label().num_levels(), input.train->num_rows,
                   static_cast<double>(batches_.steps_per_epoch() * options_->epochs) /
                       (input.valid->num_rows > 0 ? kLongestTraining : 1))},
              {{&network, &state_.adam}}) {
  state_.best_params.assign(network.params().begin(), network.params().end());
  if (is_averaged()) state_.averages.resize(std::size(kAverageDecays) * network.params().size());
}

std::string Trainer::resume(TrainerState state) {
  const std::size_t size = network_.params().size();
  if (state.adam.mean.size() != size || state.adam.variance.size() != size ||
      state.best_params.size() != size || state.averages.size() != state_.averages.size()) {
    return "its sizes do not match the network";
  }
  const bool possible = state.adam.steps_done >= 0 && state.epochs_done >= 0 &&
                        state.epochs_done <= options_->epochs && state.best.epoch >= 0 &&
                        state.best.epoch <= state.epochs_done && state.improved >= 0 &&
                        state.improved <= state.epochs_done;
  state_ = std::move(state);
  if (!possible || steps_in_epoch() < 0 || steps_in_epoch() > batches_.steps_per_epoch())
    return "its epochs and steps do not match";
  for (int e = 0; e < state_.epochs_done; ++e) batches_.next_epoch();
  return {};
}

std::int64_t Trainer::steps_in_epoch() const {
  return state_.adam.steps_done - state_.epochs_done * batches_.steps_per_epoch();
}

std::int64_t Trainer::rows_done() const {
  return state_.epochs_done * batches_.num_rows() + batches_.rows_before(steps_in_epoch());
}

double Trainer::mean_loss() const {
  if (steps_in_epoch() == 0) return 0;
  return in_.objective->loss_in_label_units(state_.epoch_loss.loss / state_.epoch_loss.weight);
}

// How many steps the next run has: to the next report, or to the end of the epoch.
std::int64_t Trainer::run_length() const {
  if (in_.runs_of_one_step) return 1;
  const std::int64_t to_report = kProgressSteps - state_.adam.steps_done % kProgressSteps;
  const std::int64_t to_end = batches_.steps_per_epoch() - steps_in_epoch();
  const std::int64_t most = std::max<std::int64_t>(1, kRowsOfARun / options_->batch_size);
  const std::int64_t to_average =
      is_averaged() ? average_steps_ - state_.adam.steps_done % average_steps_ : to_report;
  return std::min({to_report, to_end, most, to_average});
}

// Does the steps that the epoch still lacks; returns false if it was stopped before its end.
bool Trainer::run_epoch() {
  batches_.next_epoch();
  std::vector<Batch> run;
  while (steps_in_epoch() < batches_.steps_per_epoch()) {
    in_.team->agree_on_stop();
    if (in_.team->stop_requested()) return false;
    run.clear();
    const std::int64_t first = steps_in_epoch(), count = run_length();
    for (std::int64_t step = first; step < first + count; ++step)
      run.push_back(batches_.batch(step));
    engine_.run({&run, 1}, {&state_.epoch_loss, 1});
    if (is_averaged() && state_.adam.steps_done % average_steps_ == 0) add_to_averages();
    if (state_.adam.steps_done % kProgressSteps == 0) in_.on_progress(rows_done(), mean_loss());
    in_.on_run();
  }
  return true;
}

// The first update copies the parameters.
void Trainer::add_to_averages() {
  const std::span<const float> params = std::as_const(network_).params();
  const auto updates = static_cast<double>(state_.adam.steps_done / average_steps_);
  float* average = state_.averages.data();
  for (const double decay : kAverageDecays) {
    const auto weight = static_cast<float>((decay + 1) / (updates + decay));
    for (std::size_t i = 0; i < params.size(); ++i) average[i] += (params[i] - average[i]) * weight;
    average += params.size();
  }
}

double Trainer::metric_of(const std::vector<float>& outputs) const {
  return espalier::metric_of(options_->metric, in_.objective->label(), *in_.valid, outputs);
}

double Trainer::validate() {
  if (in_.valid->num_rows == 0) return std::numeric_limits<double>::quiet_NaN();
  return metric_of(network_outputs(network_, in_.objective->label(), *in_.valid, *in_.team));
}

// Sets the metric of an epoch to that of the network's parameters, and keeps these if they are the
// best so far.
void Trainer::evaluate(Epoch& epoch) {
  epoch.valid_metric = validate();
  Epoch& best = state_.best;
  const double sign = larger_is_better(options_->metric) ? -1 : 1;
  // Without validation rows, or where the metric is never defined, the last epoch is the best.
  const bool is_better = best.epoch == 0 || std::isnan(best.valid_metric) ||
                         sign * epoch.valid_metric < sign * best.valid_metric;
  if (!is_better) return;
  best = epoch;
  std::copy(network_.params().begin(), network_.params().end(), state_.best_params.begin());
}

// Averages are evaluated before patience ends, so that there is a best epoch.
bool Trainer::is_out_of_patience(int epoch) const {
  return options_->patience > 0 && in_.valid->num_rows > 0 &&
         epoch - state_.best.epoch >= options_->patience;
}

bool Trainer::averages_are_due(int epoch) const {
  if (!stops_by_itself()) return epoch == options_->epochs;
  return is_out_of_patience(epoch) ||
         is_evaluated(epoch, state_.improved, *options_, batches_.steps_per_epoch());
}

// Inequalities are convex, so averages meet them but for roundings, which a projection removes.
void Trainer::evaluate_averages(Epoch epoch) {
  const std::span<float> params = network_.params();
  const std::vector<float> kept(params.begin(), params.end());
  const double sign = larger_is_better(options_->metric) ? -1 : 1;
  std::optional<double> found;
  for (auto average = state_.averages.begin(); average != state_.averages.end();) {
    const auto end = average + static_cast<std::ptrdiff_t>(params.size());
    std::copy(average, end, params.begin());
    average = end;
    network_.project();
    evaluate(epoch);
    if (!found || std::isnan(*found) || sign * epoch.valid_metric < sign * *found)
      found = epoch.valid_metric;
  }
  std::ranges::copy(kept, params.begin());
  epoch.valid_metric = *found;
  if (state_.improved == 0 ||
      has_improved(*found, state_.improved_metric, constant_, larger_is_better(options_->metric))) {
    state_.improved = epoch.epoch;
    state_.improved_metric = *found;
  }
  in_.on_epoch(epoch);
}

// Ends the running epoch; returns false if training has diverged, so that an earlier one must do.
bool Trainer::finish_epoch() {
  Epoch epoch{.epoch = state_.epochs_done + 1, .train_loss = mean_loss()};
  const auto is_finite = [](float value) { return std::isfinite(value); };
  if (!std::isfinite(epoch.train_loss) ||
      !std::all_of(network_.params().begin(), network_.params().end(), is_finite)) {
    if (state_.best.epoch > 0) return false;
    throw Error(ErrorKind::diverged,
                fmt::format("training diverged in epoch {}; {} too high for this dataset",
                            epoch.epoch, steep_options(*options_)));
  }
  ++state_.epochs_done;
  state_.epoch_loss = {};
  if (!is_averaged()) {
    evaluate(epoch);
    in_.on_epoch(epoch);
  } else if (averages_are_due(epoch.epoch)) {
    evaluate_averages(epoch);
  }
  return true;
}

bool Trainer::is_over() const {
  const int done = state_.epochs_done;
  if (done >= options_->epochs) return true;
  if (is_out_of_patience(done)) return true;
  return stops_by_itself() && state_.improved > 0 &&
         done - state_.improved >=
             epochs_to_wait(state_.improved, *options_, batches_.steps_per_epoch());
}

std::int64_t Trainer::expected_rows() const {
  if (is_over()) return rows_done();
  const int epochs = stops_by_itself()
                         ? expected_epochs(state_.improved, *options_, batches_.steps_per_epoch())
                         : options_->epochs.value();
  return batches_.num_rows() * std::max(epochs, state_.epochs_done + 1);
}

Epoch Trainer::run() {
  while (!is_over() && run_epoch() && finish_epoch()) {
  }
  if (in_.team->stop_requested()) {
    in_.on_stop();
    // The state to resume from is written, so what was never evaluated may be now.
    if (state_.best.epoch == 0 && state_.epochs_done > 0)
      evaluate_averages({.epoch = state_.epochs_done});
  }
  std::copy(state_.best_params.begin(), state_.best_params.end(), network_.params().begin());
  return state_.best;
}

}  // namespace espalier
