// SPDX-License-Identifier: Apache-2.0
#include "train/policy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier {

namespace {

// Sizes of networks, each up to so many rows.
struct Rung {
  std::size_t below;
  NetworkSize size;
};
constexpr Rung kLadder[] = {{1000, {8, 3, 10, 5}},
                            {5000, {20, 4, 40, 10}},
                            {15000, {40, 4, 100, 20}},
                            {std::numeric_limits<std::size_t>::max(), {70, 5, 150, 20}}};

// Losses whose gradient does not vanish near the minimum, or varies by orders of magnitude from row
// to row: with a constant rate even averages stay noisy, at a cost of 1 to 4 % of deviance.
bool has_noisy_gradients(Loss loss) {
  return loss != Loss::squared_error && loss != Loss::log_loss;
}

// An improvement of .03 % of the metric pays for the epochs that found it. Where a good model is
// hardly better than a constant one, as for claims, that is most of what can be learned; so an
// improvement of .1 % of the distance to the constant model is enough.
constexpr double kMinRelativeGain = 0.0003;
constexpr double kLeastGainOverConstant = 0.001;

// An epoch of many rows is long: it is evaluated at once.
constexpr std::int64_t kStepsBeforeEvaluation = 400;
// Later epochs are evaluated every tenth of the training.
constexpr int kEvaluationSpacing = 10;

// An improvement often follows on a plateau of a third of the training.
constexpr int kLeastWait = 8;
constexpr double kWaitOfBest = 0.3;
// Of the first length: very few rows have few steps an epoch.
constexpr double kWaitOfFirstLength = 0.2;
// Many rows gain most in their first epochs: a long wait would cost most of the training.
constexpr int kLeastWaitOfManyRows = 2;
constexpr std::int64_t kMaxStepsToWait = 1500;

// One network learns all that so many rows say, and rows that rotate would be held twice.
constexpr std::size_t kManyRowsOfAMember = 1'000'000;

// First lengths after which training usually stops.
constexpr int kUsualLength = 2;

}  // namespace

NetworkSize network_size(std::size_t rows) {
  return std::ranges::find_if(kLadder, [&](const Rung& rung) { return rows < rung.below; })->size;
}

int continuous_keypoints(std::size_t rows) { return rows < 10'000 ? 15 : rows < 50'000 ? 30 : 60; }

int batch_size(std::size_t rows, const Label& label) {
  const int most = label.has_log_link() ? 2048 : 256;
  int batch = 32;
  while (batch < most && static_cast<std::size_t>(batch) * 100 < rows) batch *= 2;
  return batch;
}

double learning_rate(std::size_t rows) { return rows < kFewRows ? 0.01 : 0.04; }

// Enough steps for small datasets, enough epochs for large ones. An epoch sees each row at one of
// its levels; half as many again for each level are enough.
int first_length(std::size_t rows, int batch_size, std::size_t levels) {
  constexpr double kSteps = 2000;
  const int once =
      std::clamp(static_cast<int>(kSteps * batch_size / static_cast<double>(rows)), 12, 200);
  return once * static_cast<int>(levels + 1) / 2;
}

// A rate of .04 is too high to stay, even for averages: it falls early, over a twentieth of the
// first length. A rate of .01 may stay for log loss and squared error of one level.
RateDecay rate_decay(const TrainOptions& options, std::size_t levels, std::size_t rows,
                     double length) {
  if (rows >= kFewRows) return {.over = 0.05 * length, .warms_up = true};
  if (has_noisy_gradients(options.loss) || levels > 1) return {.over = 0.5 * length};
  return {};
}

double rate_share(const RateDecay& fall, std::int64_t step) {
  if (fall.over == 0) return 1;
  const double progress = static_cast<double>(step) / fall.over;
  const double warm = fall.warms_up ? std::min(1.0, static_cast<double>(step + 1) / fall.over) : 1;
  return warm / std::sqrt(1 + progress);
}

int epochs_to_wait(int improved, const TrainOptions& options, std::int64_t steps_per_epoch) {
  const int by_length = static_cast<int>(kWaitOfFirstLength * options.epochs / kLongestTraining);
  const int by_steps = static_cast<int>(kMaxStepsToWait / steps_per_epoch);
  const int least = std::clamp(by_steps, kLeastWaitOfManyRows, std::max(kLeastWait, by_length));
  return std::max(least, static_cast<int>(kWaitOfBest * improved));
}

int expected_epochs(int improved, const TrainOptions& options, std::int64_t steps_per_epoch) {
  const int usual = kUsualLength * options.epochs / kLongestTraining;
  const int end = improved + epochs_to_wait(improved, options, steps_per_epoch);
  return std::min(options.epochs.value(), std::max(usual, end));
}

bool is_evaluated(int epoch, int improved, const TrainOptions& options,
                  std::int64_t steps_per_epoch) {
  if (epoch == options.epochs) return true;
  if (epoch < kFirstEvaluation && epoch * steps_per_epoch < kStepsBeforeEvaluation) return false;
  if (epoch - improved == epochs_to_wait(improved, options, steps_per_epoch)) return true;
  return epoch % std::max(1, epoch / kEvaluationSpacing) == 0;
}

bool has_improved(double metric, double before, double constant, bool larger_is_better) {
  if (!std::isfinite(before)) return std::isfinite(metric);
  const double gain = larger_is_better ? metric - before : before - metric;
  return gain > std::min(kMinRelativeGain * std::abs(before),
                         kLeastGainOverConstant * std::abs(before - constant));
}

int default_members(std::size_t rows, bool rotates) {
  if (rows < kVeryFewRows) return 5;
  if (rows >= kManyRowsOfAMember) return 1;
  return rotates ? 3 : 2;
}

// On the same rows forests differ by the columns of each tree alone, so half as many are enough.
int forests_beside(int networks, std::size_t rows, bool rotates) {
  return rotates || rows < kVeryFewRows ? networks : (networks + 1) / 2;
}

int tree_leaves(std::size_t rows) { return rows < kVeryFewRows ? 15 : rows < 200'000 ? 31 : 63; }

}  // namespace espalier
