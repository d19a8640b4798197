// SPDX-License-Identifier: Apache-2.0
// Training a model on a table.
//
//   espalier::Table table = espalier::read_csv("loan.csv");
//   auto result = espalier::train(table, {.label = "default", .increasing = {"debt_ratio"}});
//   result.model.save("loan.esp");
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <stop_token>
#include <string>
#include <vector>

#include "espalier/metrics.h"
#include "espalier/model.h"
#include "espalier/options.h"
#include "espalier/ranks.h"

namespace espalier {

/// An epoch that was evaluated: every one, or of averaged training those now and then.
struct Epoch {
  int member = 1;  ///< which network of an ensemble, from 1
  int epoch = 0;   ///< from 1
  double train_loss =
      0;  ///< mean over the epoch's steps: log loss, or squared error in units of the label
  double valid_metric = 0;  ///< NaN without validation rows
};

/// How far training is; sent every few steps and after each epoch.
struct Progress {
  const TrainOptions* options;  ///< with every automatic choice made
  Metric metric;                ///< the one that chooses the epoch
  int member = 1;
  Epoch last;                  ///< the last finished epoch of this member; epoch 0 before the first
  double loss = 0;             ///< of the running epoch so far
  int trees = 0;               ///< grown so far beside this member; 0 while it is trained itself
  std::int64_t rows_done = 0;  ///< over all epochs and members
  std::int64_t rows_total = 0;    ///< an estimate while training may stop by itself; it can grow
  std::int64_t rows_resumed = 0;  ///< of rows_done, those of earlier runs that this one continues
  double seconds = 0;             ///< since this run began
  bool epoch_finished = false;    ///< true once for each epoch that was evaluated
};

/// Ways to follow, to end and to continue training, all optional.
struct TrainControl {
  const Table* valid = nullptr;  ///< validation rows; valid_fraction is then ignored
  /// Called from the thread that called train(); an exception that it throws ends training and
  /// leaves train().
  std::function<void(const Progress&)> progress;
  std::function<void(const std::string&)> warning;  ///< columns ignored, rows without a label, ...
  /// Ends training with the best model so far: networks that have not finished an epoch are left
  /// out, and if there is no other, train() throws Error (stopped).
  std::stop_token stop;

  /// A folder, made if it is absent, for the file `checkpoint`: the state of the run between two
  /// steps, replaced atomically while training goes on and when `stop` ends it. Give each run a
  /// folder of its own. Empty: no checkpoints. A checkpoint that cannot be written is a warning.
  /// When the model is saved, remove_checkpoint ends the run's need for it.
  std::string checkpoint = {};
  /// At most this long from one checkpoint to the next; 0: one after every step.
  double checkpoint_seconds = 30;
  /// Continue from the checkpoint, from the beginning if there is none. The model is the same, to
  /// the last bit, as if the run had never been interrupted. Without it train() refuses a folder
  /// that has a checkpoint. Table, validation rows and options must be those of the earlier run,
  /// except for threads, and so must the version of the library.
  bool resume = false;

  /// A folder for arrays that need not be in memory, as files without a name; empty: all of them
  /// are in memory. With a table of read_csv_to_disk memory does not grow with the number of rows.
  /// The model is the same.
  std::string scratch = {};

  /// Processes that train this model together, each with its own threads; null: this one alone. The
  /// model is the same for any number of them, and all of them get it. Each of up to eight has its
  /// share of the rows of every step, and from 2^22 rows on it keeps no others; each gives all rows
  /// of the table, or those of rows_of_rank. The first has the checkpoints; `progress` and
  /// `warning` are called on all; a stop that one of them is asked for stops all. Throws Error
  /// (data) if a rank has other rows or options than the first.
  Ranks* ranks = nullptr;

  /// How many bytes training may hold besides the rows and what lies in `scratch`; 0: any number.
  /// What follows from the network, the validation rows and the words of categories must be less:
  /// else train() throws Error (argument) before the first step, which says how much is needed.
  std::uint64_t memory = 0;
};

/// A decision that the options left open, made on the rows of the table. The model file stores it.
struct Choice {
  std::string
      setting;        ///< the question: the name of the option, such as interactions or tree_share
  std::string value;  ///< the answer; the option's flag takes it
  std::string why;
  std::vector<std::string> alternatives = {};  ///< values that were compared, in the order of why
  /// The improvement of the mean validation loss by the answer, and its standard error; NaN where
  /// neither was measured.
  double improvement = std::numeric_limits<double>::quiet_NaN();
  double error = std::numeric_limits<double>::quiet_NaN();
  std::int64_t rows = 0;  ///< the cost: rows trained on to decide
};

/// As JSON: an object for each choice. What was not measured is absent.
std::string choices_to_json(const std::vector<Choice>& choices);

struct TrainResult {
  Model model;
  TrainOptions options;  ///< as used, with every automatic choice made
  Metric metric;         ///< the one that chose the epochs
  std::vector<Epoch> history;
  std::vector<Epoch> best;     ///< the chosen epoch of each member
  std::size_t train_rows = 0;  ///< of each network
  std::size_t valid_rows = 0;  ///< that chose epochs: with an ensemble most rows do, each in turn
  /// On the validation rows, empty without them; of an ensemble whose networks hold out different
  /// rows, each row as the networks say that have not been trained on it.
  std::vector<MetricValue> valid_metrics;
  bool stopped = false;  ///< ended early by the stop token
  double seconds = 0;
  double search_seconds = 0;  ///< of them, choosing pairs of columns, and lattices: crystals
  double tree_seconds = 0;    ///< of growing trees, summed over forests that grow side by side
  std::vector<Choice> choices = {};
};

/// Trains a model whose parameters meet every inequality of monotonicity exactly.
/// Throws Error (argument, data) for options or a table that cannot be used, Error (argument, file,
/// format) for a checkpoint that cannot.
TrainResult train(const Table& table, const TrainOptions& options,
                  const TrainControl& control = {});

/// The same model from a table that is not needed any more: its cells are freed while they are
/// encoded, so that training takes little more memory than the table had.
///
///   auto result = espalier::train(espalier::read_csv("loan.csv"), {.label = "default"});
TrainResult train(Table&& table, const TrainOptions& options, const TrainControl& control = {});

/// Deletes the checkpoint in a folder, if there is one: to be called when the model of the finished
/// run is saved. Throws Error (file).
void remove_checkpoint(const std::string& folder);

}  // namespace espalier
