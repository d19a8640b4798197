// SPDX-License-Identifier: Apache-2.0
#include "search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/thread_pool.h"
#include "espalier/error.h"
#include "espalier/json.h"
#include "train/improvement.h"

namespace espalier {

namespace {

constexpr std::ptrdiff_t kLeaders = 3;  // trials that are confirmed beside the defaults

double loss_of(double metric_value, Metric metric) {
  return larger_is_better(metric) ? -metric_value : metric_value;
}

}  // namespace

std::pair<bool, double> place_of(double metric_value, Metric metric) {
  const bool is_nan = std::isnan(metric_value);
  return {is_nan, is_nan ? 0 : loss_of(metric_value, metric)};
}

double all_threads(Team& team) {
  return team.pool().size() * (team.ranks() ? team.ranks()->size() : 1);
}

Search::Search(TuneProblem& problem, const SearchSpace& space, const TuneOptions& tune,
               const TuneControl& control, Team& team, const Stopwatch& watch, TuneResults& results,
               std::vector<TuneRun> earlier)
    : problem_(problem),
      space_(space),
      tune_(tune),
      control_(control),
      team_(team),
      watch_(watch),
      results_(results),
      runs_(std::move(earlier)) {
  for (const TuneRun& run : runs_) {
    require_drawn(run);
    know(run);
  }
}

std::vector<TuneTrial> Search::run() {
  const Pace pace = tune_.minutes > 0 ? train_defaults() : Pace();
  const Plan plan = plan_search(tune_, pace);
  halving_ = Halving(plan.trials, plan.bracket);
  work_in(plan.search_end, [this] { return next_of_search(); });
  std::vector<TuneTrial> trials;
  for (TuneRun& run : ranked(runs_, problem_.metric)) trials.push_back({.run = std::move(run)});
  if (trials.size() > 1 && tune_.confirm > 0 && !team_.stop_requested()) confirm(trials);
  return trials;
}

// A limit of time is planned with the seconds of the first trial, which is trained alone.
Pace Search::train_defaults() {
  work_in(0, [this, begun = false]() mutable {
    return std::exchange(begun, true) ? std::nullopt : std::optional(Run{{1, kRungs}});
  });
  const auto defaults = std::ranges::find_if(
      runs_, [](const TuneRun& run) { return run.trial == 1 && run.repeat == 0; });
  return {.seconds = defaults == runs_.end() ? 0 : defaults->seconds,
          .threads = all_threads(team_),
          .elapsed = agreed_seconds()};
}

// Clocks differ between ranks: that of the first counts.
double Search::agreed_seconds() const {
  return Json::parse(team_.from_first(Json(watch_.seconds()).dump()), "a rank").get<double>();
}

// Draws depend on the fingerprint only, so others were not made by this program.
void Search::require_drawn(const TuneRun& run) const {
  const int epochs = epochs_of({run.trial, run.rung});
  if (run.settings == space_.draw(run.trial).dump() && run.epochs == epochs) return;
  throw Error(ErrorKind::format,
              fmt::format("{}: trial {} has other settings or epochs than this search gives it",
                          control_.results, run.trial));
}

int Search::epochs_of(const Job& job) const {
  return epochs_at_rung(space_.options_of(space_.draw(job.trial))->epochs, job.rung);
}

void Search::know(const TuneRun& run) {
  known_[{run.trial, run.epochs, run.repeat}] = {run.valid_metric, run.folds};
  defaults_known_ |= run.trial == 1;
}

// Null if it is still to be trained.
const Search::Known* Search::known(const Run& run) const {
  const auto found = known_.find({run.job.trial, epochs_of(run.job), run.repeat});
  return found == known_.end() ? nullptr : &found->second;
}

std::optional<double> Search::known_value(const Run& run) const {
  const Known* const found = known(run);
  return found == nullptr ? std::nullopt : std::optional(found->value);
}

std::optional<Search::Run> Search::next_of_search() {
  const std::optional<Job> job = halving_.next();
  return job ? std::optional(Run{*job}) : std::nullopt;
}

// Puts the best leader first that is clearly better than the defaults on other rows, or else the
// defaults; one after another, so that as many as the time allows have all their repeats.
void Search::confirm(std::vector<TuneTrial>& trials) {
  const std::span<TuneTrial> finalists = put_finalists_first(trials);
  deal_folds(problem_, tune_.confirm);
  std::vector<Run> planned;
  for (const TuneTrial& trial : finalists) {
    for (int repeat = 1; repeat <= tune_.confirm; ++repeat)
      planned.push_back(repeat_of(trial, repeat));
  }
  confirming_ = true;
  work_in(60 * tune_.minutes, [&planned, at = std::size_t{0}]() mutable {
    return at < planned.size() ? std::optional(planned[at++]) : std::nullopt;
  });

  const std::vector<double> defaults = losses_to_compare(finalists.front());
  const std::size_t looks =
      confirms_on_same_rows(problem_) ? trials.size() - 1 : finalists.size() - 1;
  const Luck luck{.looks = looks, .shared = shared_rows(problem_)};
  const auto is_better = [&](const TuneTrial& trial) {
    return clearly_lower(defaults, losses_to_compare(trial), luck);
  };
  for (TuneTrial& trial : finalists) trial.confirmed = mean_of_repeats(trial);
  const auto place = [this](const TuneTrial& trial) {
    return place_of(trial.confirmed, problem_.metric);
  };
  std::ranges::stable_sort(finalists.subspan(1), {}, place);
  const auto winner = std::find_if(finalists.begin() + 1, finalists.end(), is_better);
  if (winner != finalists.end()) std::rotate(finalists.begin(), winner, winner + 1);
  std::ranges::stable_sort(finalists.subspan(1), {}, place);
}

// The defaults and the leaders; `trials` begin with the best.
std::span<TuneTrial> Search::put_finalists_first(std::vector<TuneTrial>& trials) {
  const auto defaults =
      std::ranges::find(trials, 1, [](const TuneTrial& trial) { return trial.run.trial; });
  std::rotate(trials.begin(), defaults, defaults + 1);
  return {trials.begin(), trials.begin() + std::min(std::ssize(trials), 1 + kLeaders)};
}

Search::Run Search::repeat_of(const TuneTrial& trial, int repeat) {
  return {{trial.run.trial, trial.run.rung}, repeat};
}

// Of all repeats, the smaller the better; none if one of them is missing.
std::vector<double> Search::repeated_losses(const TuneTrial& trial) const {
  std::vector<double> losses;
  for (int repeat = 1; repeat <= tune_.confirm; ++repeat) {
    const std::optional<double> value = known_value(repeat_of(trial, repeat));
    if (!value) return {};
    losses.push_back(loss_of(*value, problem_.metric));
  }
  return losses;
}

// Of all folds of all repeats, or of all repeats; none if one of them is missing.
std::vector<double> Search::losses_to_compare(const TuneTrial& trial) const {
  if (problem_.num_folds == 0) return repeated_losses(trial);
  std::vector<double> losses;
  for (int repeat = 1; repeat <= tune_.confirm; ++repeat) {
    const Known* const own = known(repeat_of(trial, repeat));
    if (own == nullptr) return {};
    for (const double fold : own->folds) losses.push_back(loss_of(fold, problem_.metric));
  }
  return losses;
}

// NaN if one of them is missing.
double Search::mean_of_repeats(const TuneTrial& trial) const {
  const std::vector<double> losses = repeated_losses(trial);
  return losses.empty() ? std::nan("") : loss_of(mean_of(losses), problem_.metric);
}

// Trains what `next` gives on all threads until there is no more, a time is over or somebody asks
// to stop.
void Search::work_in(double end, const std::function<std::optional<Run>()>& next) {
  std::stop_source stop;
  const Phase phase{next, end, stop};
  if (is_spread()) return spread(phase);
  const std::stop_callback on_stop(control_.stop, [&] { stop.request_stop(); });
  ThreadPool& pool = team_.pool();
  pool.run(pool.size(), [&](int) { work(phase); });
}

void Search::work(const Phase& phase) {
  try {
    while (const std::optional<Run> run = take(phase)) keep(*run, train_one(*run, phase), phase);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    phase.stop.request_stop();
    changed_.notify_all();
    throw;
  }
}

// Waits while the only runs left depend on running ones.
std::optional<Search::Run> Search::take(const Phase& phase) {
  std::unique_lock lock(mutex_);
  if (is_spread()) return take_assigned(phase, lock);
  while (!phase.stop.stop_requested()) {
    const std::optional<Run> run = phase.next();
    if (!run) {
      if (running_ == 0) break;
      changed_.wait(lock);
    } else if (const std::optional<double> known = known_value(*run)) {
      finish(*run, *known);
    } else {
      ++running_;
      return run;
    }
  }
  return std::nullopt;
}

void Search::finish(const Run& run, double value) {
  if (run.repeat == 0) halving_.finish(run.job, loss_of(value, problem_.metric));
}

// Nothing if it was stopped.
std::optional<TuneRun> Search::train_one(const Run& run, const Phase& phase) {
  const Stopwatch watch;
  const Json settings = space_.draw(run.job.trial);
  TrainOptions options = *space_.options_of(settings);
  options.epochs = epochs_at_rung(options.epochs, run.job.rung);
  const TrainControl control = {.progress = [&](const Progress&) { tell(nullptr, phase); },
                                .stop = phase.stop.get_token()};
  std::optional<std::vector<double>> values;
  try {
    values = evaluate(problem_, options, run.repeat, control);
  } catch (const Error& error) {
    if (phase.stop.stop_requested()) return std::nullopt;
    const bool are_defaults = run.job.trial == 1 && run.repeat == 0;
    if (error.kind() != ErrorKind::diverged || are_defaults) throw;
    values = {std::nan("")};
  }
  if (!values) return std::nullopt;
  const double value = mean_of(*values);
  return TuneRun{.trial = run.job.trial,
                 .rung = run.job.rung,
                 .epochs = options.epochs,
                 .repeat = run.repeat,
                 .settings = settings.dump(),
                 .valid_metric = std::isfinite(value) ? value : std::nan(""),
                 .seconds = watch.seconds(),
                 .folds = problem_.num_folds > 0 ? *std::move(values) : std::vector<double>()};
}

void Search::keep(const Run& run, const std::optional<TuneRun>& finished, const Phase& phase) {
  {
    const std::lock_guard lock(mutex_);
    if (is_spread()) return keep_to_tell(finished);
    --running_;
    changed_.notify_all();
    if (!finished) return;
    add(run, *finished);
  }
  tell(&*finished, phase);
}

void Search::add(const Run& run, const TuneRun& finished) {
  runs_.push_back(finished);
  know(finished);
  finish(run, finished.valid_metric);
}

// Failing is no reason to lose the search.
void Search::record(const TuneRun& run) {
  try {
    results_.append(run, problem_.metric);
  } catch (const Error& error) {
    if (!std::exchange(warned_, true) && control_.warning)
      control_.warning(fmt::format("a result is not kept: {}; the search goes on", error.what()));
  }
}

// Whether its time is, though not before the defaults are evaluated: whatever is chosen is to be
// better than them.
bool Search::is_over(const Phase& phase) const {
  return phase.end > 0 && watch_.seconds() >= phase.end && defaults_known_;
}

// Reports, and ends the phase when its time is over. A run is recorded after it is reported, so
// that whoever sees the record and asks to stop finds the run; it is recorded even if the report
// throws.
void Search::tell(const TuneRun* finished, const Phase& phase) {
  const std::lock_guard lock(mutex_);
  if (!is_spread() && is_over(phase)) phase.stop.request_stop();
  try {
    report(finished);
  } catch (...) {
    if (finished != nullptr) record(*finished);
    throw;
  }
  if (finished != nullptr) record(*finished);
}

void Search::report(const TuneRun* finished) const {
  if (!control_.progress) return;
  control_.progress({.metric = problem_.metric,
                     .runs = runs_,
                     .finished = finished,
                     .confirming = confirming_,
                     .running = running_,
                     .seconds = watch_.seconds()});
}

}  // namespace espalier
