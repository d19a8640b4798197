// SPDX-License-Identifier: Apache-2.0
// tune(): a search for better settings, then the final model.
#include "espalier/tune.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "core/check_fields.h"
#include "core/default_floats.h"
#include "core/stopwatch.h"
#include "espalier/error.h"
#include "espalier/json.h"
#include "search/plan.h"
#include "search/search.h"
#include "search/search_space.h"
#include "search/tune_problem.h"
#include "search/tune_results.h"
#include "train/team.h"

namespace espalier {

namespace {

[[noreturn]] void fail_stopped() {
  throw Error(ErrorKind::stopped,
              "stopped before the first training of the search had ended: there is no model yet");
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
  const DefaultFloats floats;
  validate(options);
  Team team(options.threads, control.ranks, control.stop);
  const Stopwatch watch;
  TuneProblem problem = pose_search(table, options, asked, control, team);
  const TuneOptions tune_options = with_repeats(asked, problem.train_rows);
  TuneResults results(team.is_first() ? control.results : std::string(), problem.fingerprint);
  std::vector<TuneRun> earlier = earlier_runs(results, problem.metric, team);
  const SearchSpace space(problem.base, tune_options, problem.train_rows, problem.schema,
                          problem.validation, problem.pairs);
  Search search(problem, space, tune_options, control, team, watch, results, std::move(earlier));
  std::vector<TuneTrial> trials = search.run();
  team.agree_on_stop();
  const bool stopped = team.stop_requested();
  if (stopped && trials.empty()) fail_stopped();

  const TuneRun best_run = trials.empty() ? TuneRun() : trials.front().run;
  const Json settings = space.draw(best_run.trial);
  TrainOptions best = *space.options_of(settings);
  best.trees = problem.trees;
  best.tree_share = options.tree_share;
  if (!trials.empty()) best.epochs = best_run.epochs;
  if (options.ensemble.is_open()) {
    const Pace own = {best_run.seconds / std::max(1, problem.num_folds), all_threads(team)};
    best.ensemble =
        networks_within(tune_options, own, {best.ensemble, space.most_networks(settings)});
  }
  TuneResult result{.trials = std::move(trials),
                    .trained = train(table, best,
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
