// SPDX-License-Identifier: Apache-2.0
// What the commands that train share: flags, tables, Ctrl-C, the proof and the summary.
#pragma once

#include <CLI/App.hpp>
#include <atomic>
#include <csignal>
#include <string>

#include "espalier/certificate.h"
#include "espalier/csv.h"
#include "espalier/train.h"
#include "output.h"
#include "progress.h"

namespace espalier {

struct TrainingFlags {
  std::string table;
  std::string valid;
  std::string output;
  TrainOptions options;
  CsvOptions csv;
  bool quiet = false;
  bool verbose = false;
  bool json = false;

  Talk talk() const { return quiet ? Talk::quiet : verbose ? Talk::verbose : Talk::normal; }
};

/// `line` is what --verbose prints one line of.
void add_training_flags(CLI::App& app, TrainingFlags& flags, const std::string& line);

/// Names the output after the table if nobody did. Throws Error for flags that do not fit together
/// and for a model that could not be saved.
void settle_training_flags(TrainingFlags& flags);

/// The training rows, and those of --valid, with the same columns and types; the second is empty
/// without --valid.
struct TrainingTables {
  Table train;
  Table valid;
};
TrainingTables read_tables(const TrainingFlags& flags);

/// Saves a model if its proof holds, else throws Error (format).
Certificate save_proven(const Model& model, const std::string& path);

std::string summary_text(const TrainResult& result, const Certificate& proof,
                         const std::string& path);
Json summary_json(const TrainResult& result, const Certificate& proof, const std::string& path);

/// While one of these lives, the first SIGINT or SIGTERM only asks to stop; a second one kills.
class StopOnSignal {
 public:
  StopOnSignal() {
    struct sigaction action {};
    action.sa_handler = [](int) { asked_ = true; };
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    ::sigaction(SIGINT, &action, &old_interrupt_);
    ::sigaction(SIGTERM, &action, &old_terminate_);
  }
  ~StopOnSignal() {
    ::sigaction(SIGINT, &old_interrupt_, nullptr);
    ::sigaction(SIGTERM, &old_terminate_, nullptr);
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  static bool asked() { return asked_; }

 private:
  // Read by other threads than the one that has the signal.
  static inline std::atomic<bool> asked_ = false;
  static_assert(std::atomic<bool>::is_always_lock_free);
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
};

}  // namespace espalier
