// SPDX-License-Identifier: Apache-2.0
// tune(): runs of many trials side by side, then the final model.
#include "espalier/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/check_fields.h"
#include "core/random.h"
#include "core/stopwatch.h"
#include "core/thread_pool.h"
#include "espalier/error.h"
#include "train/checkpoint.h"
#include "train/folds.h"
#include "train/halving.h"
#include "train/prepare.h"
#include "train/search_space.h"
#include "train/streams.h"
#include "train/tune_results.h"

namespace espalier {

namespace {

constexpr int kTrialsWithoutEnd = 1 + kBracket;

double loss_of(double metric_value, Metric metric) {
  return larger_is_better(metric) ? -metric_value : metric_value;
}

// What all trials are judged on.
struct Problem {
  const Table& table;
  const Table* valid;  // null: a share of the table, or folds
  std::vector<Fold> folds;
  TrainOptions base;
  Metric metric;
  Schema schema;
  std::size_t train_rows;
  Fingerprint fingerprint;
};

void check(const TrainOptions& options, const TuneOptions& tune, const TuneControl& control) {
  const auto fail = [](const char* message) { throw Error(ErrorKind::argument, message); };
  validate(tune);
  if (tune.folds == 1) fail("folds: 1 fold has nothing to train on; wanted 2 or more");
  if (tune.folds > 0 && control.valid != nullptr)
    fail("folds: there are validation rows already; wanted one of the two");
  if (tune.folds > 0 && options.patience > 0)
    fail("patience: does not go with folds, which are judged by the last epoch");
  if (tune.folds == 0 && control.valid == nullptr && options.valid_fraction == 0)
    fail("valid_fraction: 0 leaves no rows to choose settings on; wanted more, or folds");
}

// The final ensemble is no part of what is searched.
Fingerprint fingerprint_of_search(const Prepared& prepared, const TuneOptions& tune) {
  TrainOptions options = prepared.options;
  options.ensemble = 1;
  Fingerprint fingerprint =
      fingerprint_of(options, prepared.schema, prepared.train, prepared.valid);
  fingerprint.options.emplace_back("folds", Json(tune.folds).dump());
  fingerprint.options.emplace_back("search", Json(tune.search).dump());
  fingerprint.options.emplace_back("fix", Json(tune.fix).dump());
  return fingerprint;
}

Problem pose(const Table& table, const TrainOptions& options, const TuneOptions& tune,
             const TuneControl& control) {
  check(options, tune, control);
  TrainOptions base = options;
  if (tune.folds > 0) base.valid_fraction = 0;
  const Prepared prepared =
      prepare(table, nullptr, base, {.valid = control.valid, .warning = control.warning});
  if (tune.folds == 0 && prepared.valid.num_rows == 0)
    throw Error(ErrorKind::data,
                fmt::format("{}: no rows are left to choose settings on", table.name));
  Problem problem{.table = table,
                  .valid = control.valid,
                  .base = std::move(base),
                  .metric = prepared.metric,
                  .schema = prepared.schema,
                  .train_rows = prepared.train.num_rows,
                  .fingerprint = fingerprint_of_search(prepared, tune)};
  if (tune.folds > 0) {
    problem.folds = make_folds(table, prepared.schema.label, tune.folds,
                               Random(options.seed).split(kFoldStream));
  }
  return problem;
}

// The validation metric of one training. Without folds that of the epoch that training keeps; with
// them that of the last one, since the final model has no rows to choose another on. Nothing if it
// was stopped.
std::optional<double> judge_training(const Table& table, const Table* valid,
                                     const TrainOptions& options, bool is_fold,
                                     const TrainControl& shared) {
  TrainControl control = shared;
  control.valid = valid;
  const TrainResult result = train(table, options, control);
  if (result.stopped) return std::nullopt;
  if (!is_fold) return result.best.front().valid_metric;
  if (static_cast<int>(result.history.size()) < options.epochs) return std::nan("");  // diverged
  return result.history.back().valid_metric;
}

std::optional<double> judge(const Problem& problem, TrainOptions options,
                            const TrainControl& control) {
  options.threads = 1;
  options.ensemble = 1;
  if (problem.folds.empty())
    return judge_training(problem.table, problem.valid, options, false, control);
  options.task = problem.schema.label.task;  // a fold may not show it
  double sum = 0;
  for (const Fold& fold : problem.folds) {
    const auto value = judge_training(fold.train, &fold.valid, options, true, control);
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum / static_cast<double>(problem.folds.size());
}

// Runs jobs on all threads until there are no more, the time is over or somebody asks to stop.
class Search {
 public:
  Search(const Problem& problem, const SearchSpace& space, const TuneOptions& tune,
         const TuneControl& control)
      : problem_(problem),
        space_(space),
        control_(control),
        minutes_(tune.minutes),
        halving_(tune.trials == 0 && tune.minutes == 0 ? kTrialsWithoutEnd : tune.trials),
        results_(control.results, problem.fingerprint),
        runs_(results_.earlier()),
        on_stop_(control.stop, [this] { stop_.request_stop(); }) {
    for (const TuneRun& run : runs_) {
      require_drawn(run);
      know(run);
    }
  }

  std::vector<TuneRun> run() {
    ThreadPool pool(problem_.base.threads);
    pool.run(pool.size(), [this](int) { work(); });
    return std::move(runs_);
  }

 private:
  // Draws depend on the fingerprint only, so others were not made by this program.
  void require_drawn(const TuneRun& run) const {
    const int epochs = epochs_of({run.trial, run.rung});
    if (run.settings == space_.draw(run.trial).dump() && run.epochs == epochs) return;
    throw Error(ErrorKind::format,
                fmt::format("{}: trial {} has other settings or epochs than this search gives it",
                            control_.results, run.trial));
  }

  int epochs_of(const Job& job) const {
    return epochs_at_rung(space_.options_of(space_.draw(job.trial)).epochs, job.rung);
  }

  void know(const TuneRun& run) {
    known_[{run.trial, run.epochs}] = run.valid_metric;
    defaults_known_ |= run.trial == 1;
  }

  void work() {
    try {
      while (const std::optional<Job> job = take_job()) keep(*job, run_job(*job));
    } catch (...) {
      const std::lock_guard lock(mutex_);
      stop_.request_stop();
      changed_.notify_all();
      throw;
    }
  }

  // Waits while the only jobs left depend on running ones.
  std::optional<Job> take_job() {
    std::unique_lock lock(mutex_);
    while (!stop_.stop_requested()) {
      const std::optional<Job> job = halving_.next();
      if (!job) {
        if (running_ == 0) break;
        changed_.wait(lock);
      } else if (const auto known = known_.find({job->trial, epochs_of(*job)});
                 known != known_.end()) {
        halving_.finish(*job, loss_of(known->second, problem_.metric));
      } else {
        ++running_;
        return job;
      }
    }
    return std::nullopt;
  }

  // Nothing if it was stopped.
  std::optional<TuneRun> run_job(const Job& job) {
    const Stopwatch watch;
    const Json settings = space_.draw(job.trial);
    TrainOptions options = space_.options_of(settings);
    options.epochs = epochs_at_rung(options.epochs, job.rung);
    const TrainControl control = {.progress = [this](const Progress&) { tell(nullptr); },
                                  .stop = stop_.get_token()};
    std::optional<double> value;
    try {
      value = judge(problem_, options, control);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::diverged || job.trial == 1) throw;
      value = std::nan("");
    }
    if (!value) return std::nullopt;
    if (!std::isfinite(*value)) value = std::nan("");
    return TuneRun{.trial = job.trial,
                   .rung = job.rung,
                   .epochs = options.epochs,
                   .settings = settings.dump(),
                   .valid_metric = *value,
                   .seconds = watch.seconds()};
  }

  void keep(const Job& job, const std::optional<TuneRun>& run) {
    {
      const std::lock_guard lock(mutex_);
      --running_;
      changed_.notify_all();
      if (!run) return;
      runs_.push_back(*run);
      know(*run);
      halving_.finish(job, loss_of(run->valid_metric, problem_.metric));
      record(*run);
    }
    tell(&*run);
  }

  // Failing is no reason to lose the search.
  void record(const TuneRun& run) {
    try {
      results_.append(run, problem_.metric);
    } catch (const Error& error) {
      if (!std::exchange(warned_, true) && control_.warning)
        control_.warning(fmt::format("a result is not kept: {}; the search goes on", error.what()));
    }
  }

  // Reports, and ends the search when its time is over, though not before the defaults are judged:
  // whatever is chosen is to be better than them.
  void tell(const TuneRun* finished) {
    const std::lock_guard lock(mutex_);
    const double seconds = watch_.seconds();
    if (minutes_ > 0 && seconds >= 60 * minutes_ && defaults_known_) stop_.request_stop();
    if (!control_.progress) return;
    control_.progress({.metric = problem_.metric,
                       .runs = runs_,
                       .finished = finished,
                       .running = running_,
                       .seconds = seconds});
  }

  const Problem& problem_;
  const SearchSpace& space_;
  const TuneControl& control_;
  const double minutes_;
  const Stopwatch watch_;

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  Halving halving_;
  TuneResults results_;
  std::vector<TuneRun> runs_;
  // By trial and epochs: from earlier lives, and from a rung with as many epochs.
  std::map<std::pair<int, int>, double> known_;
  bool defaults_known_ = false;
  int running_ = 0;
  bool warned_ = false;

  std::stop_source stop_;
  std::stop_callback<std::function<void()>> on_stop_;
};

}  // namespace

void validate(const TuneOptions& options) { check_fields(options); }

std::vector<TuneRun> ranked(std::span<const TuneRun> runs, Metric metric) {
  const auto key = [metric](const TuneRun& run) {
    const double loss = loss_of(run.valid_metric, metric);
    return std::tuple(std::isnan(loss), std::isnan(loss) ? 0 : loss, run.trial, run.rung);
  };
  std::vector<TuneRun> sorted(runs.begin(), runs.end());
  std::ranges::sort(sorted, {}, key);
  std::vector<TuneRun> best;
  std::set<int> seen;
  for (TuneRun& run : sorted) {
    if (seen.insert(run.trial).second) best.push_back(std::move(run));
  }
  return best;
}

TuneResult tune(const Table& table, const TrainOptions& options, const TuneOptions& tune_options,
                const TuneControl& control) {
  const Problem problem = pose(table, options, tune_options, control);
  const SearchSpace space(problem.base, tune_options, problem.train_rows, problem.schema);
  std::vector<TuneRun> runs =
      ranked(Search(problem, space, tune_options, control).run(), problem.metric);
  const bool stopped = control.stop.stop_requested();

  TrainOptions best = space.options_of(space.draw(runs.empty() ? 1 : runs.front().trial));
  if (!runs.empty()) best.epochs = runs.front().epochs;
  TuneResult result{.runs = std::move(runs),
                    .trained = train(table, best,
                                     {.valid = control.valid,
                                      .progress = control.final_progress,
                                      .stop = stopped ? std::stop_token() : control.stop}),
                    .stopped = stopped};
  for (const Dimension& dimension : space.dimensions())
    result.search.push_back(to_string(dimension));
  return result;
}

}  // namespace espalier
