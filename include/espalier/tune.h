// SPDX-License-Identifier: Apache-2.0
// Searching for settings of training that are better on validation rows than the defaults.
//
//   auto result = espalier::tune(table, {.label = "default"}, {.minutes = 10});
//   result.trained.model.save("loan.esp");
//
// A trial is a draw of settings; the first one is the defaults, with all that train() chooses by
// its validation rows. Trials compete in brackets
// (successive halving): all are trained with a ninth of their epochs, the best third of them with a
// third, the best third of those with all. Each of these runs is a whole training whose learning
// rate falls to its end, so the best run of all leads, with the epochs that it had. The best of
// many is the best partly by luck: the leaders and the defaults are then trained again with other
// seeds and evaluated on other rows. The best leader wins that is better than the defaults there by
// more than two standard errors of the paired differences; if none is, the defaults stay.
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <stop_token>
#include <string>
#include <type_traits>
#include <vector>

#include "espalier/fields.h"
#include "espalier/metrics.h"
#include "espalier/options.h"
#include "espalier/train.h"

namespace espalier {

struct TuneOptions {
  /// How many draws, the defaults among them. 0: as many as the time allows, 28 if it has no end.
  int trials = 0;
  /// After this long no training goes on but the final one; of what is left when the first trial is
  /// trained the search has 60 %, to confirm the rest. What could not be confirmed is not searched.
  /// 0: no end.
  double minutes = 0;
  /// How often the three best trials and the defaults are trained again, each time with another
  /// seed and other validation rows or folds. A trial wins if it is clearly better there: where
  /// there is nothing to gain, in at most 5 % of searches. Once is too seldom to tell, unless there
  /// are folds. 0: the best run wins. Open: 5, and 10 below 5,000 training rows.
  Auto<int> confirm = {};
  /// Evaluate by k-fold cross-validation instead of one set of validation rows; for small tables.
  int folds = 0;
  /// "learning_rate=0.003:0.1:log", "lattices=20:120", "keypoints=distinct:quantile".
  std::vector<std::string> search = {};
  /// Settings that stay as they are.
  std::vector<std::string> fix = {};
};

template <class Options, class Visitor>
requires std::is_same_v<std::remove_const_t<Options>, TuneOptions>
void visit_fields(Options& o, Visitor&& visit) {
  visit(Field{"trials",
              "how many draws of settings, the defaults among them; 0: as many as --minutes "
              "allows, 28 without it",
              0, 1e6},
        o.trials);
  visit(
      Field{"minutes",
            "how long to search and confirm, at least until the defaults are evaluated; the final "
            "training comes on top; 0: until all trials are done",
            0, 1e6},
      o.minutes);
  visit(Field{"confirm",
              "how often the three best trials and the defaults are trained again, with another "
              "seed and other validation rows each time; one that is clearly better there wins; 0: "
              "the best trial wins; auto: 5, below 5,000 training rows 10",
              0, 1000},
        o.confirm);
  visit(Field{"folds",
              "evaluate by cross-validation with this many folds, each time by the last epoch, and "
              "train the final model on all rows; 0 holds out --valid-fraction",
              0, 100},
        o.folds);
  visit(Field{"search",
              "draw a setting in every trial, from low:high, low:high:log or words: "
              "learning_rate=0.003:0.1:log,keypoints=distinct:quantile"},
        o.search);
  visit(Field{"fix", "settings to leave as they are: lattices,weight_decay"}, o.fix);
}

/// Throws Error (argument) naming the first field that is out of its range or not finite.
void validate(const TuneOptions& options);

/// One finished training of a trial.
struct TuneRun {
  int trial = 1;              ///< from 1, the defaults
  int rung = 1;               ///< 1, 2, 3: with a ninth, a third, all of its epochs
  int epochs = 0;             ///< how many it was trained with
  int repeat = 0;             ///< from 1 if it confirms an earlier run, with another seed
  std::string settings = {};  ///< JSON: what the trial drew, without what stayed as it was
  double valid_metric = 0;    ///< of the best epoch, or the mean over folds; NaN if it diverged
  double seconds = 0;         ///< on one thread
  std::vector<double> folds = {};  ///< the metric of each fold, if there are folds
};

/// How far the search is; sent every few steps and after each run, by one thread at a time.
struct TuneProgress {
  Metric metric;
  std::span<const TuneRun> runs;      ///< all that are finished, those of earlier lives first
  const TuneRun* finished = nullptr;  ///< the one that has just been, else null
  bool confirming = false;            ///< the search is over
  int running = 0;
  double seconds = 0;  ///< since this search began
};

/// Ways to follow, to end and to continue a search, all optional.
struct TuneControl {
  const Table* valid = nullptr;  ///< validation rows; valid_fraction is then ignored
  std::function<void(const TuneProgress&)> progress;
  std::function<void(const Progress&)> final_progress;  ///< of the training of the final model
  std::function<void(const std::string&)> warning;
  /// Ends the search; the final model is still trained, with the best settings so far. A stop
  /// during that training ends it with its best epoch so far.
  std::stop_token stop;
  /// A file of JSON lines, one per finished run, made if it is absent. If an earlier search with
  /// the same table and options left it, its runs are not repeated. The number of trials and
  /// repeats, the time, the threads and the size of the final ensemble may differ. Empty: none.
  std::string results = {};
  /// Processes that divide the trainings of the search and then train the final model together,
  /// each on options.threads threads; null: this one alone. The result is the same, and all of them
  /// get it. The first has the results.
  Ranks* ranks = nullptr;
};

/// What is known of a trial.
struct TuneTrial {
  TuneRun run;  ///< its best
  /// The mean metric of the repeats that confirm it; NaN if it has not all, or one of them
  /// diverged.
  double confirmed = std::numeric_limits<double>::quiet_NaN();
};

struct TuneResult {
  std::vector<TuneTrial> trials;  ///< the one that won, then those that were confirmed, best first
  TrainResult trained;            ///< with the settings of the first of them; of the defaults
                                  ///< if there is none
  std::vector<std::string> search;  ///< every range, as TuneOptions::search writes it
  bool stopped = false;             ///< by the stop token
};

/// Searches on options.threads threads, a training on each, from `options`, which are the first
/// trial. Where they leave the ensemble open, the final model has five networks, or as many as
/// train within the time of the search, but no fewer than train() would choose. A setting that they
/// change from its default is searched only if TuneOptions::search names it. The draws depend on
/// the seed and nothing else; with a number of trials and no limit of time so does the result.
/// Throws Error (argument, data) for options, ranges or a table that cannot be used, Error
/// (argument, file, format) for results that cannot, Error (diverged) if the first trial does.
TuneResult tune(const Table& table, const TrainOptions& options, const TuneOptions& tune_options,
                const TuneControl& control = {});

/// The best run of each trial, best first; repeats do not count.
std::vector<TuneRun> ranked(std::span<const TuneRun> runs, Metric metric);

}  // namespace espalier
