// SPDX-License-Identifier: Apache-2.0
// Trials, then repeats of the best of them, on all threads (search.cc) of all ranks (spread.cc).
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/stopwatch.h"
#include "espalier/tune.h"
#include "search/halving.h"
#include "search/plan.h"
#include "search/search_space.h"
#include "search/tune_problem.h"
#include "search/tune_results.h"
#include "train/team.h"

namespace espalier {

/// To sort by: the best first, NaN last.
std::pair<bool, double> place_of(double metric_value, Metric metric);

/// Of all ranks.
double all_threads(Team& team);

/// What the first rank's file has.
std::vector<TuneRun> earlier_runs(const TuneResults& results, Metric metric, Team& team);

class Search {
 public:
  Search(TuneProblem& problem, const SearchSpace& space, const TuneOptions& tune,
         const TuneControl& control, Team& team, const Stopwatch& watch, TuneResults& results,
         std::vector<TuneRun> earlier);

  std::vector<TuneTrial> run();

 private:
  // A training to come: one of the search, or a repeat of one.
  struct Run {
    Job job;
    int repeat = 0;
  };

  // What a finished training is evaluated by.
  struct Known {
    double value;
    std::vector<double> folds;
  };

  struct Phase {
    const std::function<std::optional<Run>()>& next;
    double end;  // in seconds since the search began; 0: none
    std::stop_source& stop;
  };

  void require_drawn(const TuneRun& run) const;
  int epochs_of(const Job& job) const;
  void know(const TuneRun& run);
  const Known* known(const Run& run) const;
  std::optional<double> known_value(const Run& run) const;
  Pace train_defaults();
  double agreed_seconds() const;
  std::optional<Run> next_of_search();

  void confirm(std::vector<TuneTrial>& trials);
  static std::span<TuneTrial> put_finalists_first(std::vector<TuneTrial>& trials);
  static Run repeat_of(const TuneTrial& trial, int repeat);
  std::vector<double> repeated_losses(const TuneTrial& trial) const;
  std::vector<double> losses_to_compare(const TuneTrial& trial) const;
  double mean_of_repeats(const TuneTrial& trial) const;

  void work_in(double end, const std::function<std::optional<Run>()>& next);
  void work(const Phase& phase);
  std::optional<Run> take(const Phase& phase);
  void finish(const Run& run, double value);
  std::optional<TuneRun> train_one(const Run& run, const Phase& phase);
  void keep(const Run& run, const std::optional<TuneRun>& finished, const Phase& phase);
  void add(const Run& run, const TuneRun& finished);

  void record(const TuneRun& run);
  bool is_over(const Phase& phase) const;
  void tell(const TuneRun* finished, const Phase& phase);
  void report(const TuneRun* finished) const;

  // Of ranks, in spread.cc.
  bool is_spread() { return team_.ranks() != nullptr; }
  void spread(const Phase& phase);
  void end(const Phase& phase);
  std::optional<Run> take_assigned(const Phase& phase, std::unique_lock<std::mutex>& lock);
  void keep_to_tell(const std::optional<TuneRun>& finished);
  std::vector<int> hear(const Phase& phase, int threads);
  bool beat(const Phase& phase, int threads);

  TuneProblem& problem_;
  const SearchSpace& space_;
  const TuneOptions& tune_;
  const TuneControl& control_;
  Team& team_;
  const Stopwatch& watch_;
  bool confirming_ = false;

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  Halving halving_{0};
  TuneResults& results_;
  std::vector<TuneRun> runs_;
  // By trial, epochs and repeat: from earlier lives, and from a rung with as many epochs.
  std::map<std::tuple<int, int, int>, Known> known_;
  bool defaults_known_ = false;
  int running_ = 0;
  bool warned_ = false;
  // Of ranks:
  std::deque<Run> assigned_;  // to this one, and not begun
  int in_hand_ = 0;           // assigned and not finished
  std::string to_tell_;       // lines of finished runs that the others do not know of
  bool is_over_ = false;
};

}  // namespace espalier
