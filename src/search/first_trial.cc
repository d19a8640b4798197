// SPDX-License-Identifier: Apache-2.0
#include "search/first_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/stopwatch.h"
#include "espalier/error.h"
#include "search/halving.h"
#include "train/held_out.h"
#include "train/settled_options.h"

namespace espalier {

namespace {

constexpr const char* kDecided[] = {"epochs", "architecture", "calibrator_hessian", "weight_decay"};

// The settings that train() has, where the number of rows would have given others.
Json decided(const TrainOptions& used, const TrainOptions& by_rows) {
  const Json own = Json::parse(to_json(used)), other = Json::parse(to_json(by_rows));
  Json settings = Json::object();
  for (const char* name : kDecided) {
    if (own[name] != other[name]) settings[name] = own[name];
  }
  return settings;
}

bool can_be_chosen(const std::string& name, const Json& value, const OpenSettings& open) {
  if (name == "epochs") return value.is_whole();
  if (name == "calibrator_hessian") return open.calibrator_hessian && value.is_number();
  if (name == "weight_decay") return open.weight_decay && value.is_number();
  return name == "architecture" && value.is_string() &&
         std::ranges::find(open.larger, value.string()) != open.larger.end();
}

// With folds it is the last epoch that is judged and that the final model keeps. What train() chose
// beside validation rows that pick the best epoch may be far too long for that, so the folds decide
// whether it is used.
void let_folds_decide(const Problem& problem, const SettledOptions& by_rows,
                      const TrainControl& control, FirstTrial& first) {
  const auto judged = [&](const Json& settings) {
    TrainOptions options = *by_rows;
    apply_json(options, settings.dump(), "the first trial");
    const Stopwatch watch;
    const auto values = judge(problem, options, 0, control);
    if (!values) fail_stopped();
    return std::pair(mean_of(*values), watch.seconds());
  };
  const Json none = Json::object();
  const auto [own, own_seconds] = judged(first.settings);
  const auto [other, other_seconds] = judged(none);
  const bool is_better = larger_is_better(problem.metric) ? own > other : own < other;
  if (!is_better) first.settings = none;
  first.seconds = is_better ? own_seconds : other_seconds;
}

FirstTrial continued(const TuneRun& run, const OpenSettings& open) {
  FirstTrial first{.settings = Json::parse(run.settings), .seconds = run.seconds};
  for (const auto& [name, value] : first.settings.members()) {
    if (!can_be_chosen(name, value, open))
      throw Error(ErrorKind::format,
                  fmt::format("results: trial 1 has other settings than training can have chosen: "
                              "{} {}",
                              name, value.dump()));
  }
  return first;
}

}  // namespace

void fail_stopped() {
  throw Error(ErrorKind::stopped,
              "stopped before the first training of the search had ended: there is no model yet");
}

FirstTrial first_trial(const Problem& problem, std::span<const TuneRun> earlier,
                       const std::function<void()>& tell, const TuneControl& control, Team& team) {
  if (!problem.open.epochs) return {};
  const auto known = std::ranges::find_if(
      earlier, [](const TuneRun& run) { return run.trial == 1 && run.repeat == 0; });
  if (known != earlier.end()) return continued(*known, problem.open);

  std::int64_t rows = 0;  // trained on, for all that was tried
  const auto follow = [&](const Progress& progress) {
    rows = std::max(rows, progress.rows_done);
    tell();
  };
  team.agree_on_stop();
  if (team.stop_requested()) fail_stopped();
  TrainResult trained = train(
      problem.table, problem.plain,
      {.valid = control.valid, .progress = follow, .stop = control.stop, .ranks = control.ranks});
  if (trained.stopped) fail_stopped();
  const SettledOptions by_rows =
      settle(problem.base, problem.schema.label, problem.schema.features, problem.train_rows);
  FirstTrial first{.settings = decided(trained.options, *by_rows)};
  const double own = static_cast<double>(trained.train_rows) * trained.options.epochs;
  first.tree_seconds = trained.tree_seconds * team.pool().size();
  first.seconds = (trained.seconds - trained.tree_seconds) * team.pool().size() * own /
                  std::max(own, static_cast<double>(rows)) * std::max(1, problem.num_folds);
  first.trained = std::move(trained);
  if (problem.num_folds > 0 && first.settings != Json::object()) {
    const auto follow_judging = [&](const Progress&) { tell(); };
    let_folds_decide(problem, by_rows, {.progress = follow_judging, .stop = control.stop}, first);
  }
  return first;
}

std::optional<TuneRun> run_of(const FirstTrial& first, const Problem& problem, double seconds) {
  if (!first.trained || problem.num_folds > 0) return std::nullopt;
  return TuneRun{.trial = 1,
                 .rung = kRungs,
                 .epochs = first.trained->options.epochs,
                 .settings = first.settings.dump(),
                 .valid_metric = first.trained->best.front().valid_metric,
                 .seconds = seconds};
}

}  // namespace espalier
