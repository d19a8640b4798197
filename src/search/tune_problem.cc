// SPDX-License-Identifier: Apache-2.0
#include "search/tune_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/random.h"
#include "encode/roles.h"
#include "espalier/error.h"
#include "espalier/json.h"
#include "objective/label.h"
#include "train/idle_options.h"
#include "train/interaction_search.h"
#include "train/problem.h"
#include "train/shared_rows.h"
#include "train/streams.h"
#include "train/train_on.h"

namespace espalier {

namespace {

void check(const TrainOptions& options, const TuneOptions& tune, const TuneControl& control) {
  const auto fail = [](const char* message) { throw Error(ErrorKind::argument, message); };
  validate(tune);
  if (tune.folds == 1) fail("folds: 1 fold has nothing to train on; wanted 2 or more");
  if (tune.folds > 0 && control.valid != nullptr)
    fail("folds: there are validation rows already; wanted one of the two");
  if (tune.folds > 0 && options.patience > 0)
    fail("patience: does not go with folds, which are evaluated by the last epoch");
  if (tune.folds > 0 && options.schedule == Schedule::averaged)
    fail("schedule: averaged does not go with folds, which are evaluated by the last epoch");
  if (tune.folds == 0 && control.valid == nullptr && options.valid_fraction == 0)
    fail("valid_fraction: 0 leaves no rows to choose settings on; wanted more, or folds");
}

void warn_of_idle_options(const TrainOptions& options, const TuneOptions& tune,
                          const TuneControl& control) {
  if (!control.warning) return;
  if (tune.folds > 0 && options.valid_fraction != TrainOptions().valid_fraction)
    control.warning(fmt::format("valid_fraction: no effect in this run: folds is {}", tune.folds));
  if (tune.trials != 1) return;
  const TuneOptions defaults;
  if (!tune.search.empty()) control.warning("search: no effect in this run: trials is 1");
  if (!tune.fix.empty()) control.warning("fix: no effect in this run: trials is 1");
  if (!(tune.confirm == defaults.confirm))
    control.warning("confirm: no effect in this run: trials is 1");
}

// The final ensemble is no part of what is searched.
Fingerprint fingerprint_of_search(const Problem& problem, const DataHashes& hashes,
                                  const TuneOptions& tune) {
  TrainOptions options = *problem.options;
  options.ensemble = 1;
  Fingerprint fingerprint = fingerprint_of(SettledOptions(std::move(options)), problem, hashes);
  fingerprint.options.emplace_back("folds", Json(tune.folds).dump());
  fingerprint.options.emplace_back("search", Json(tune.search).dump());
  fingerprint.options.emplace_back("fix", Json(tune.fix).dump());
  return fingerprint;
}

constexpr double kShareOfFile = 0.2;  // of its rows, that a repeat is evaluated on

// A seed draws the validation rows or folds, the wiring and the initial parameters. Repeat 0 is the
// search.
std::uint64_t seed_of(const TuneProblem& problem, int repeat) {
  const std::uint64_t seed = problem.base.seed;
  if (repeat == 0) return seed;
  return Random(seed).split(kRepeatStream).split(static_cast<std::uint64_t>(repeat)).bits() >> 32;
}

// NaN if it diverged, nothing if it was stopped.
std::optional<double> evaluate_fold(const TuneProblem& problem, const Split& fold,
                                    const TrainOptions& options, const TrainControl& control) {
  const TrainResult result = train_on({.table = problem.table, .rows = &fold}, options, control);
  if (result.stopped) return std::nullopt;
  if (static_cast<int>(result.history.size()) < options.epochs) return std::nan("");
  return result.history.back().valid_metric;
}

}  // namespace

void deal_folds(TuneProblem& problem, int repeat) {
  if (problem.num_folds == 0) return;
  const Label& label = problem.schema.label;
  const Rows rows =
      labelled_rows(label, problem.table, weighted_rows(problem.table, problem.base.weight));
  const auto count = static_cast<std::size_t>(problem.num_folds);
  if (rows.size() < count) {
    throw Error(ErrorKind::argument,
                fmt::format("folds: {} are too many for {} rows with a label", count, rows.size()));
  }
  const auto labels = encode_labels(label, problem.table, rows);
  for (int i = static_cast<int>(problem.folds.size()); i <= repeat; ++i) {
    problem.folds.push_back(deal_folds(rows, {labels.begin(), labels.end()}, count,
                                       Random(seed_of(problem, i)).split(kFoldStream)));
  }
}

TuneProblem pose_search(const Table& table, const TrainOptions& options, const TuneOptions& tune,
                        const TuneControl& control, Team& team) {
  check(options, tune, control);
  const TrainControl once = {
      .valid = control.valid, .warning = control.warning, .stop = control.stop};
  Problem problem = pose({.table = table}, options, once);
  const DataHashes hashes = hashes_of(problem, nullptr);
  require_same_on_all_ranks(problem, hashes, team);
  warn_of_idle_options(options, problem, once);
  warn_of_idle_options(options, tune, control);
  warn_of_shared_rows(problem, once, team);
  if (tune.folds == 0 && problem.valid.num_rows == 0)
    throw Error(ErrorKind::data,
                fmt::format("{}: no rows are left to choose settings on", table.name));
  std::vector<Choice> choices;
  problem = choose_pairs(options.interactions, std::move(problem), team, once, choices);
  TrainOptions base = options;
  base.interactions = problem.options->interactions;
  if (tune.folds > 0) base.valid_fraction = 0;
  TuneProblem posed{
      .table = table,
      .valid = control.valid,
      .num_folds = tune.folds,
      .folds = {},
      .base = std::move(base),
      .validation = tune.folds > 0 ? Validation::none : problem.validation,
      .pairs = choices.empty() ? std::vector<std::string>() : choices[0].alternatives,
      // With folds there are no rows that could say how many.
      .trees = tune.folds > 0 ? options.trees.value_or(0) : problem.options->trees.value(),
      .metric = problem.options->metric,
      .schema = problem.schema,
      .train_rows = problem.train.num_rows,
      .fingerprint = fingerprint_of_search(problem, hashes, tune)};
  deal_folds(posed, 0);
  return posed;
}

RepeatRows rows_of_repeat(const TuneProblem& problem, int repeat) {
  Split search = split_rows({.table = problem.table}, problem.schema.label, problem.base,
                            {.valid = problem.valid});
  const bool has_file = problem.valid != nullptr;
  const auto valid_rows = static_cast<double>(search.valid.size());
  Rows& pool = has_file ? search.valid : search.train;
  const std::size_t drawn_of = pool.size();
  const double share =
      has_file ? kShareOfFile : std::min(0.5, valid_rows / static_cast<double>(drawn_of));
  Split own =
      hold_out_share(std::move(pool), share, Random(seed_of(problem, repeat)).split(kSplitStream));
  if (has_file)
    return {{.train = std::move(search.train), .valid = std::move(own.valid)}, drawn_of};
  Rows train;
  std::ranges::merge(own.train, search.valid, std::back_inserter(train));
  return {{.train = std::move(train), .valid = std::move(own.valid)}, drawn_of};
}

double shared_rows(const TuneProblem& problem) {
  if (problem.num_folds > 0) return 1.0 / (problem.num_folds - 1);
  const RepeatRows rows = rows_of_repeat(problem, 1);
  const auto valid_rows = static_cast<double>(rows.split.valid.size());
  return valid_rows / (static_cast<double>(rows.drawn_of) - valid_rows);
}

bool confirms_on_same_rows(const TuneProblem& problem) {
  return problem.num_folds > 0 || problem.valid != nullptr;
}

std::optional<std::vector<double>> evaluate(const TuneProblem& problem, TrainOptions options,
                                            int repeat, const TrainControl& shared) {
  options.threads = 1;
  options.ensemble = 1;
  options.trees = 0;  // settings of networks are compared
  options.seed = seed_of(problem, repeat);
  TrainControl control = shared;
  if (problem.num_folds == 0) {
    control.valid = problem.valid;
    std::optional<RepeatRows> rows;
    if (repeat > 0) rows = rows_of_repeat(problem, repeat);
    const TrainResult result =
        train_on({.table = problem.table, .rows = rows ? &rows->split : nullptr}, options, control);
    if (result.stopped) return std::nullopt;
    return std::vector{result.best.front().valid_metric};
  }
  std::vector<double> values;
  for (const Split& fold : problem.folds[static_cast<std::size_t>(repeat)]) {
    const auto value = evaluate_fold(problem, fold, options, control);
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

}  // namespace espalier
