// SPDX-License-Identifier: Apache-2.0
// tune(): runs of many trials side by side, repeats of the best, then the final model.
#include "espalier/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "core/check_fields.h"
#include "core/stopwatch.h"
#include "core/thread_pool.h"
#include "espalier/error.h"
#include "search/first_trial.h"
#include "search/halving.h"
#include "search/plan.h"
#include "search/problem.h"
#include "search/search_space.h"
#include "search/tune_results.h"
#include "train/held_out.h"
#include "train/team.h"

namespace espalier {

namespace {

constexpr std::ptrdiff_t kLeaders = 3;          // trials that are confirmed beside the defaults
constexpr std::chrono::milliseconds kBeat{10};  // of ranks

double loss_of(double metric_value, Metric metric) {
  return larger_is_better(metric) ? -metric_value : metric_value;
}

// To sort by: the best first, NaN last.
std::pair<bool, double> place_of(double metric_value, Metric metric) {
  const bool is_nan = std::isnan(metric_value);
  return {is_nan, is_nan ? 0 : loss_of(metric_value, metric)};
}

std::string line_of(const TuneRun& run, Metric metric) { return format_run(run, metric) + "\n"; }

std::vector<TuneRun> runs_in(std::string_view lines) {
  std::vector<TuneRun> runs;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    runs.push_back(parse_run(lines.substr(0, end), "a rank"));
    lines.remove_prefix(end + 1);
  }
  return runs;
}

// What the first rank's file has.
std::vector<TuneRun> earlier_runs(const TuneResults& results, Metric metric, Team& team) {
  std::string lines;
  for (const TuneRun& run : results.earlier()) lines += line_of(run, metric);
  return runs_in(team.from_first(lines));
}

// A training to come: one of the search, or a repeat of one.
struct Run {
  Job job;
  int repeat = 0;
};

// Trials, then repeats of the best of them, on all threads.
class Search {
 public:
  Search(Problem& problem, const SearchSpace& space, const TuneOptions& tune,
         const TuneControl& control, Team& team, const Stopwatch& watch, TuneResults& results,
         std::vector<TuneRun> earlier, const Plan& plan)
      : problem_(problem),
        space_(space),
        tune_(tune),
        control_(control),
        team_(team),
        watch_(watch),
        plan_(plan),
        halving_(plan.trials, plan.bracket),
        results_(results),
        runs_(std::move(earlier)) {
    for (const TuneRun& run : runs_) {
      require_drawn(run);
      know(run);
    }
  }

  // A run that is finished before the search begins.
  void begin_with(const TuneRun& run) {
    runs_.push_back(run);
    know(run);
    report(&runs_.back());
    record(run);
  }

  std::vector<TuneTrial> run() {
    work_in(plan_.search_end, [this] { return next_of_search(); });
    std::vector<TuneTrial> trials;
    for (TuneRun& run : ranked(runs_, problem_.metric)) trials.push_back({.run = std::move(run)});
    if (trials.size() > 1 && tune_.confirm > 0 && !team_.stop_requested()) confirm(trials);
    return trials;
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
    return epochs_at_rung(space_.options_of(space_.draw(job.trial))->epochs, job.rung);
  }

  void know(const TuneRun& run) {
    known_[{run.trial, run.epochs, run.repeat}] = run.valid_metric;
    defaults_known_ |= run.trial == 1;
  }

  // Nothing if it is still to be trained.
  std::optional<double> known_value(const Run& run) const {
    const auto found = known_.find({run.job.trial, epochs_of(run.job), run.repeat});
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }

  std::optional<Run> next_of_search() {
    const std::optional<Job> job = halving_.next();
    return job ? std::optional(Run{*job}) : std::nullopt;
  }

  // Puts the best leader first that is clearly better than the defaults on other rows, or else the
  // defaults; one after another, so that as many as the time allows have all their repeats.
  void confirm(std::vector<TuneTrial>& trials) {
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

    const std::vector<double> defaults = repeated_losses(finalists.front());
    const auto is_better = [&](const TuneTrial& trial) {
      return clearly_lower(defaults, repeated_losses(trial));
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
  static std::span<TuneTrial> put_finalists_first(std::vector<TuneTrial>& trials) {
    const auto defaults =
        std::ranges::find(trials, 1, [](const TuneTrial& trial) { return trial.run.trial; });
    std::rotate(trials.begin(), defaults, defaults + 1);
    return {trials.begin(), trials.begin() + std::min(std::ssize(trials), 1 + kLeaders)};
  }

  static Run repeat_of(const TuneTrial& trial, int repeat) {
    return {{trial.run.trial, trial.run.rung}, repeat};
  }

  // Of all repeats, the smaller the better; none if one of them is missing.
  std::vector<double> repeated_losses(const TuneTrial& trial) const {
    std::vector<double> losses;
    for (int repeat = 1; repeat <= tune_.confirm; ++repeat) {
      const std::optional<double> value = known_value(repeat_of(trial, repeat));
      if (!value) return {};
      losses.push_back(loss_of(*value, problem_.metric));
    }
    return losses;
  }

  // NaN if one of them is missing.
  double mean_of_repeats(const TuneTrial& trial) const {
    const std::vector<double> losses = repeated_losses(trial);
    return losses.empty() ? std::nan("") : loss_of(mean_of(losses), problem_.metric);
  }

  // Trains what `next` gives on all threads until there is no more, a time is over or somebody asks
  // to stop.
  void work_in(double end, const std::function<std::optional<Run>()>& next) {
    std::stop_source stop;
    const Phase phase{next, end, stop};
    if (is_spread()) return spread(phase);
    const std::stop_callback on_stop(control_.stop, [&] { stop.request_stop(); });
    ThreadPool& pool = team_.pool();
    pool.run(pool.size(), [&](int) { work(phase); });
  }

  struct Phase {
    const std::function<std::optional<Run>()>& next;
    double end;  // in seconds since the search began; 0: none
    std::stop_source& stop;
  };

  void work(const Phase& phase) {
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
  std::optional<Run> take(const Phase& phase) {
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

  void finish(const Run& run, double value) {
    if (run.repeat == 0) halving_.finish(run.job, loss_of(value, problem_.metric));
  }

  // Nothing if it was stopped.
  std::optional<TuneRun> train_one(const Run& run, const Phase& phase) {
    const Stopwatch watch;
    const Json settings = space_.draw(run.job.trial);
    TrainOptions options = *space_.options_of(settings);
    options.epochs = epochs_at_rung(options.epochs, run.job.rung);
    const TrainControl control = {.progress = [&](const Progress&) { tell(nullptr, phase); },
                                  .stop = phase.stop.get_token()};
    std::optional<double> value;
    try {
      value = judge(problem_, options, run.repeat, control);
    } catch (const Error& error) {
      if (phase.stop.stop_requested()) return std::nullopt;
      const bool are_defaults = run.job.trial == 1 && run.repeat == 0;
      if (error.kind() != ErrorKind::diverged || are_defaults) throw;
      value = std::nan("");
    }
    if (!value) return std::nullopt;
    if (!std::isfinite(*value)) value = std::nan("");
    return TuneRun{.trial = run.job.trial,
                   .rung = run.job.rung,
                   .epochs = options.epochs,
                   .repeat = run.repeat,
                   .settings = settings.dump(),
                   .valid_metric = *value,
                   .seconds = watch.seconds()};
  }

  void keep(const Run& run, const std::optional<TuneRun>& finished, const Phase& phase) {
    {
      const std::lock_guard lock(mutex_);
      if (is_spread()) {
        --in_hand_;
        if (finished) to_tell_ += line_of(*finished, problem_.metric);
        return;
      }
      --running_;
      changed_.notify_all();
      if (!finished) return;
      add(run, *finished);
    }
    tell(&*finished, phase);
  }

  void add(const Run& run, const TuneRun& finished) {
    runs_.push_back(finished);
    know(finished);
    finish(run, finished.valid_metric);
    record(finished);
  }

  // Over ranks, every one of them keeps the whole search in mind. A beat of all ranks tells what is
  // finished and how many threads are free; then each knows who trains what comes next.

  bool is_spread() { return team_.ranks() != nullptr; }

  // One thread more keeps time with the other ranks.
  void spread(const Phase& phase) {
    ThreadPool threads(team_.pool().size() + 1);
    is_over_ = false;
    threads.run(threads.size(), [&](int task) {
      if (task > 0) return work(phase);
      try {
        while (!beat(phase, threads.size() - 1)) std::this_thread::sleep_for(kBeat);
      } catch (...) {
        end(phase);
        throw;
      }
      end(phase);
    });
    hear(phase, 0);  // of runs that ended while the time did
    assigned_.clear();
    in_hand_ = running_ = 0;
  }

  void end(const Phase& phase) {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    phase.stop.request_stop();
    changed_.notify_all();
  }

  std::optional<Run> take_assigned(const Phase& phase, std::unique_lock<std::mutex>& lock) {
    changed_.wait(lock,
                  [&] { return !assigned_.empty() || is_over_ || phase.stop.stop_requested(); });
    if (assigned_.empty() || phase.stop.stop_requested()) return std::nullopt;
    const Run run = assigned_.front();
    assigned_.pop_front();
    return run;
  }

  // Tells and hears what is finished; returns how many threads each rank has free.
  std::vector<int> hear(const Phase& phase, int threads) {
    std::string own;
    {
      const std::lock_guard lock(mutex_);
      own = fmt::format("{}{:9}", team_.is_first() && is_over(phase) ? 1 : 0, threads - in_hand_);
      own += std::exchange(to_tell_, {});
    }
    constexpr std::size_t kHead = 10;
    std::vector<int> free;
    for (const std::string& told : team_.gather(own)) {
      free.push_back(std::stoi(told.substr(1, kHead - 1)));
      if (told[0] == '1') phase.stop.request_stop();
      for (const TuneRun& run : runs_in(std::string_view(told).substr(kHead))) {
        {
          const std::lock_guard lock(mutex_);
          --running_;
          add({{run.trial, run.rung}, run.repeat}, run);
        }
        tell(&run, phase);
      }
    }
    return free;
  }

  // Whether there is nothing left to do.
  bool beat(const Phase& phase, int threads) {
    if (phase.stop.stop_requested()) return true;  // a training has failed here
    std::vector<int> free = hear(phase, threads);
    team_.agree_on_stop();
    if (team_.stop_requested() || phase.stop.stop_requested()) return true;
    const std::lock_guard lock(mutex_);
    while (true) {
      const auto freest = std::ranges::max_element(free);
      if (*freest <= 0) return false;
      const std::optional<Run> run = phase.next();
      if (!run) return running_ == 0;
      if (const std::optional<double> known = known_value(*run)) {
        finish(*run, *known);
        continue;
      }
      ++running_;
      --*freest;
      if (freest - free.begin() != team_.ranks()->rank()) continue;
      ++in_hand_;
      assigned_.push_back(*run);
      changed_.notify_one();
    }
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

  // Whether its time is, though not before the defaults are judged: whatever is chosen is to be
  // better than them.
  bool is_over(const Phase& phase) const {
    return phase.end > 0 && watch_.seconds() >= phase.end && defaults_known_;
  }

  // Reports, and ends the phase when its time is over.
  void tell(const TuneRun* finished, const Phase& phase) {
    const std::lock_guard lock(mutex_);
    if (!is_spread() && is_over(phase)) phase.stop.request_stop();
    report(finished);
  }

  void report(const TuneRun* finished) const {
    if (!control_.progress) return;
    control_.progress({.metric = problem_.metric,
                       .runs = runs_,
                       .finished = finished,
                       .confirming = confirming_,
                       .running = running_,
                       .seconds = watch_.seconds()});
  }

  Problem& problem_;
  const SearchSpace& space_;
  const TuneOptions& tune_;
  const TuneControl& control_;
  Team& team_;
  const Stopwatch& watch_;
  const Plan plan_;
  bool confirming_ = false;

  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  Halving halving_;
  TuneResults& results_;
  std::vector<TuneRun> runs_;
  // By trial, epochs and repeat: from earlier lives, and from a rung with as many epochs.
  std::map<std::tuple<int, int, int>, double> known_;
  bool defaults_known_ = false;
  int running_ = 0;
  bool warned_ = false;
  // Of ranks:
  std::deque<Run> assigned_;  // to this one, and not begun
  int in_hand_ = 0;           // assigned and not finished
  std::string to_tell_;       // lines of finished runs that the others do not know of
  bool is_over_ = false;
};

void tell_of_first(const Problem& problem, const TuneControl& control, double seconds) {
  if (control.progress)
    control.progress({.metric = problem.metric, .runs = {}, .running = 1, .seconds = seconds});
}

double all_threads(Team& team) {
  return team.pool().size() * (team.ranks() ? team.ranks()->size() : 1);
}

// Clocks differ between ranks: that of the first counts.
Pace agreed(const Pace& own, Team& team) {
  const Json told = Json::parse(
      team.from_first(Json::array({own.seconds, own.threads, own.elapsed}).dump()), "a rank");
  return {told[0].get<double>(), told[1].get<double>(), told[2].get<double>()};
}

}  // namespace

void validate(const TuneOptions& options) { check_fields(options); }

std::vector<TuneRun> ranked(std::span<const TuneRun> runs, Metric metric) {
  const auto key = [metric](const TuneRun& run) {
    return std::tuple(place_of(run.valid_metric, metric), run.trial, run.rung);
  };
  std::vector<TuneRun> sorted;
  std::ranges::copy_if(runs, std::back_inserter(sorted),
                       [](const TuneRun& run) { return run.repeat == 0; });
  std::ranges::sort(sorted, {}, key);
  std::vector<TuneRun> best;
  std::set<int> seen;
  for (TuneRun& run : sorted) {
    if (seen.insert(run.trial).second) best.push_back(std::move(run));
  }
  return best;
}

TuneResult tune(const Table& table, const TrainOptions& options, const TuneOptions& asked,
                const TuneControl& control) {
  validate(options);
  Team team(options.threads, control.ranks, control.stop);
  const Stopwatch watch;
  Problem problem = pose(table, options, asked, control, team);
  const TuneOptions tune_options = with_repeats(asked, problem.train_rows);
  // What cannot be searched is refused before anything is trained.
  SearchSpace(problem.base, tune_options, problem.train_rows, problem.schema);
  TuneResults results(team.is_first() ? control.results : std::string(), problem.fingerprint);
  std::vector<TuneRun> earlier = earlier_runs(results, problem.metric, team);
  const FirstTrial first = first_trial(
      problem, earlier, [&] { tell_of_first(problem, control, watch.seconds()); }, control, team);
  const SearchSpace space(problem.base, tune_options, problem.train_rows, problem.schema,
                          {first.settings, problem.pairs});
  const Pace pace = agreed({first.seconds, all_threads(team), watch.seconds()}, team);
  const std::optional<TuneRun> first_run = run_of(first, problem, pace.seconds);
  Search search(problem, space, tune_options, control, team, watch, results, std::move(earlier),
                plan_search(tune_options, pace));
  if (first_run) search.begin_with(*first_run);
  std::vector<TuneTrial> trials = search.run();
  team.agree_on_stop();
  const bool stopped = team.stop_requested();
  if (stopped && trials.empty()) fail_stopped();

  const TuneRun best_run = trials.empty() ? TuneRun() : trials.front().run;
  const Json settings = space.draw(best_run.trial);
  TrainOptions best = *space.options_of(settings);
  if (!trials.empty()) best.epochs = best_run.epochs;
  if (options.ensemble == 0) {
    const Pace own = {best_run.seconds / std::max(1, problem.num_folds), pace.threads};
    best.ensemble =
        networks_within(tune_options, own, {best.ensemble, space.most_networks(settings)});
  }
  const bool is_trained = best_run.trial == 1 && first_run && best.ensemble == 1;
  TuneResult result{.trials = std::move(trials),
                    .trained = is_trained
                                   ? *first.trained
                                   : train(table, best,
                                           {.valid = control.valid,
                                            .progress = control.final_progress,
                                            .stop = stopped ? std::stop_token() : control.stop,
                                            .ranks = control.ranks}),
                    .stopped = stopped};
  for (const Dimension& dimension : space.dimensions())
    result.search.push_back(to_string(dimension));
  return result;
}

}  // namespace espalier
