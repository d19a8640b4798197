// SPDX-License-Identifier: Apache-2.0
// What the commands that train share: flags, tables, signals, the proof and the summary.
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
  Ranks* ranks = nullptr;  // of mpirun; null: this process is alone

  /// Of several ranks the first talks and writes files.
  bool is_first() const { return ranks == nullptr || ranks->rank() == 0; }
  Talk talk() const { return quiet ? Talk::quiet : verbose ? Talk::verbose : Talk::normal; }
};

/// `line` is what --verbose prints one line of.
void add_training_flags(CLI::App& app, TrainingFlags& flags, const std::string& line);

/// Joins other ranks; names the output after the data if nobody did. Throws Error for flags that do
/// not fit together and for a model that could not be saved. `files` has what the command writes
/// besides.
void settle_training_flags(TrainingFlags& flags, CommandFiles files);

/// The training rows, in memory or on disk, and those of --valid, with the same columns and types;
/// the second is empty without --valid. Where rows are divided and many, ranks read their own.
struct TrainingTables {
  Table train;
  Table valid;
};
TrainingTables read_tables(const TrainingFlags& flags, const TablePlace& place = {},
                           bool divides_rows = false);

/// Saves a model if its proof holds, else throws Error (format).
Certificate save_proven(const Model& model, const std::string& path);

std::string summary_text(const TrainResult& result, const Certificate& proof,
                         const std::string& path);
Json summary_json(const TrainResult& result, const Certificate& proof, const std::string& path);

/// What a signal does to a training: it ends the program, which has written nothing, for as long as
/// there is no model; then it asks to stop with the best one so far.
class StopOnSignal {
 public:
  using Say = std::function<void(const std::string&)>;

  /// `best` is what will be kept: "the best model so far".
  StopOnSignal(std::string best, Say say)
      : best_(std::move(best)), say_(std::move(say)), answer_([this] { return answer(); }) {}

  std::stop_token token() const { return stop_.get_token(); }

  /// From now on there is something to keep. Any thread may say so.
  void keep() { keeps_ = true; }

 private:
  SignalAnswer::Answer answer();

  const std::string best_;
  const Say say_;
  std::stop_source stop_;
  std::atomic<bool> keeps_ = false;
  const SignalAnswer answer_;  // the last to be made, the first to go
};

}  // namespace espalier
