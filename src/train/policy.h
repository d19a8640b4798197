// SPDX-License-Identifier: Apache-2.0
// The thresholds of training, each with its reason. What a caller leaves open is read from here, so
// this file and policy.cc are the whole answer to "why did train choose that?". The questions are
// asked in this order: size of the network, its steps, pairs of features, members, trees, mixing
// weight.
//
// Averaged training (schedule `averaged`) replaces trial trainings of other lengths: one run keeps
// weight averages, evaluates them now and then, and stops when the validation metric stops
// improving. Its limit is the option `epochs`, and everything below follows from recorded options
// and the number of rows, so that training again with the recorded options gives the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "espalier/options.h"
#include "espalier/schema.h"

namespace espalier {

/// Below this many training rows networks take small steps and their curves are kept straight.
inline constexpr std::size_t kFewRows = 20'000;
/// Below this many, variance is what is left to reduce, and a member costs a fraction of a second.
inline constexpr std::size_t kVeryFewRows = 5'000;

// The size of networks.

/// The sizes of the layers of a preset.
struct NetworkSize {
  int lattices;
  int lattice_size;
  int input_keypoints;
  int inner_keypoints;
};

/// How large a network the rows can feed.
NetworkSize network_size(std::size_t rows);

/// Lattices of `dln` at most. Between 20x4 and 40x5 the test loss changes by less than 2 % and in
/// no direction; a second network with other random numbers gains more than a larger one.
inline constexpr int kDlnLattices = 20;
inline constexpr int kDlnLatticeSize = 4;

/// Keypoints of a column with more distinct values than its calibrator has keypoints.
int continuous_keypoints(std::size_t rows);

// The steps of one network.

/// Counts and amounts are mostly 0, and a few large ones are noise that larger batches average.
int batch_size(std::size_t rows, const Label& label);

double learning_rate(std::size_t rows);

/// Epochs of a training that is as long as the number of rows suggests: about 2,000 steps.
int first_length(std::size_t rows, int batch_size, std::size_t levels);

/// Averaged training ends after this many first lengths if nothing has stopped it before.
inline constexpr int kLongestTraining = 8;

/// How the learning rate of averaged training falls: it is divided by sqrt(1 + step / over).
struct RateDecay {
  double over = 0;        // steps; 0: the rate is constant
  bool warms_up = false;  // it rises from 0 over so many steps first
};

/// `length`: steps of the first length.
RateDecay rate_decay(const TrainOptions& options, std::size_t levels, std::size_t rows,
                     double length);

/// What a step multiplies the learning rate with; `step` counts from 0.
double rate_share(const RateDecay& fall, std::int64_t step);

// Weight averages.

/// Steps between two updates of the averages: each costs as much as a small part of a step.
inline constexpr int kAverageSteps = 8;
/// An average after t updates has weight (g + 1) / (t + g) for the newest parameters, so that it
/// spans about the last 1 / (g + 1) of the training. Noisy labels want the longest, others the
/// rest.
inline constexpr double kAverageDecays[] = {16, 6, 2};

/// Before this epoch averages are dominated by the start.
inline constexpr int kFirstEvaluation = 5;

/// Whether the averages are evaluated after an epoch. `improved`: the epoch that last improved.
bool is_evaluated(int epoch, int improved, const TrainOptions& options,
                  std::int64_t steps_per_epoch);

/// Epochs without improvement after which training stops.
int epochs_to_wait(int improved, const TrainOptions& options, std::int64_t steps_per_epoch);

/// How many epochs training will have, as far as can be told.
int expected_epochs(int improved, const TrainOptions& options, std::int64_t steps_per_epoch);

/// Whether a metric is better than one before it by enough to go on. `constant`: the metric of the
/// model that predicts the same for all rows.
bool has_improved(double metric, double before, double constant, bool larger_is_better);

// Pairs of features (train/interaction_search.h).

inline constexpr std::size_t kPairMinRows = 1000;    // fewer rows show no pair clearly
inline constexpr std::size_t kPairMaxRows = 30'000;  // a sample of more rows
// Of more columns, those that improve the loss most alone.
inline constexpr std::size_t kPairMaxColumns = 40;
inline constexpr std::size_t kMaxPairs = 4;
inline constexpr std::size_t kPairFolds = 3;
inline constexpr double kPairMinErrors = 4;     // the least improvement, in standard errors
inline constexpr double kPairMinShare = 0.015;  // and of the out-of-fold deviance
// Of the rows: the table of one is fitted on the others.
inline constexpr std::size_t kPairParts = 10;
inline constexpr double kPairShrinkage = 5;       // rows that draw a cell to 0
inline constexpr int kPairScreenBins = 32;        // per feature, where all pairs are compared
inline constexpr int kPairBins[] = {16, 32, 64};  // per feature, of a pair that becomes a category
inline constexpr int kPairVertices = 16;          // per feature, of a pair that becomes a grid
inline constexpr double kPairFinerBins = 1.03;    // times the improvement of fewer bins
inline constexpr std::size_t kPairMaxFitted = 1'000'000;  // rows from which bins are made

// Members.

/// Networks of a preset that asks the data. `rotates`: each holds out other rows.
int default_members(std::size_t rows, bool rotates);

/// Forests beside so many networks.
int forests_beside(int networks, std::size_t rows, bool rotates);

// Trees.

inline constexpr int kMaxTrees = 1000;
/// About as many trees as a forest has when it ends, and the time that a tree takes for a row, in
/// units of the time that a network takes for a row. The estimate of the time left needs both.
inline constexpr int kUsualTrees = 100;
inline constexpr double kRowsOfATree = 0.07;
/// Beside networks large steps cost nothing: the mixture has fewer than .1 % of loss to gain from
/// .05, for three times as many trees.
inline constexpr double kTreeRate = 0.15;
int tree_leaves(std::size_t rows);

/// Mixing weights 1/10, 2/10, ... are tried, and trees are left out unless the validation loss
/// improves by this many standard errors.
inline constexpr int kMixingSteps = 10;
inline constexpr double kClearErrors = 1;

}  // namespace espalier
