// SPDX-License-Identifier: Apache-2.0
// Common parts of the commands that train: flags, data, signals, verification and the summary.
#pragma once

#include <CLI/App.hpp>
#include <atomic>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>

#include "disk.h"
#include "espalier/certificate.h"
#include "espalier/csv.h"
#include "espalier/ranks.h"
#include "espalier/train.h"
#include "files.h"
#include "output.h"
#include "progress.h"
#include "signals.h"

namespace espalier {

struct TrainingFlags {
  std::string table;
  std::string valid;
  std::string config;
  std::string output;
  TrainOptions options;
  CsvOptions csv;
  bool quiet = false;
  bool verbose = false;
  bool json = false;
  Ranks* ranks = nullptr;  // of mpirun; null: a single process

  /// The first of several ranks prints and writes files.
  bool is_first() const { return ranks == nullptr || ranks->rank() == 0; }
  Talk talk() const { return quiet ? Talk::quiet : verbose ? Talk::verbose : Talk::normal; }
};

/// `line` describes the lines of --verbose.
void add_training_flags(CLI::App& app, TrainingFlags& flags, const std::string& line);

/// Joins other ranks and sets the default output name. Throws Error for contradictory flags and for
/// an output that cannot be written. `files` are the other files of the command.
void settle_training_flags(TrainingFlags& flags, CommandFiles files);

/// The training data, in memory or on disk, and the validation set of --valid with the same columns
/// and types, empty without --valid. Ranks read their own rows of large data.
struct TrainingTables {
  Table train;
  Table valid;
};
TrainingTables read_tables(const TrainingFlags& flags, const TablePlace& place = {},
                           bool divides_rows = false);

/// Saves a model if verification succeeds, else throws Error (format).
Certificate save_proven(const Model& model, const std::string& path);

std::string summary_text(const TrainResult& result, const Certificate& proof,
                         const std::string& path);
Json summary_json(const TrainResult& result, const Certificate& proof, const std::string& path);

/// The reaction to signals during training. Without a model yet, a signal ends the program, which
/// has written nothing. Later, it requests to stop with the best model so far.
class StopOnSignal {
 public:
  using Say = std::function<void(const std::string&)>;

  /// `best` describes the result: "the best model so far".
  StopOnSignal(std::string best, Say say)
      : best_(std::move(best)), say_(std::move(say)), answer_([this] { return answer(); }) {}

  std::stop_token token() const { return stop_.get_token(); }

  /// From now on there is a result to keep. Any thread may call it.
  void keep() { keeps_ = true; }

 private:
  SignalAnswer::Answer answer();

  const std::string best_;
  const Say say_;
  std::stop_source stop_;
  std::atomic<bool> keeps_ = false;
  const SignalAnswer answer_;  // constructed last, destroyed first
};

}  // namespace espalier
