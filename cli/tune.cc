// SPDX-License-Identifier: Apache-2.0
// espalier tune DATA --label L: searches for settings and trains a model with the best ones.
#include "espalier/tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "commands.h"
#include "flags.h"
#include "training.h"

namespace espalier {
namespace {

using Strings = std::vector<std::string>;

constexpr std::size_t kShown = 5;  // trials of a leaderboard, without the defaults

struct TuneFlags {
  TrainingFlags training;
  TuneOptions tune;
  std::string results;
};

std::string value_text(const Json& value) {
  if (value.is_array()) return fmt::format("{}", fmt::join(value.get<Strings>(), ","));
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// "learning_rate 0.02, lattices 40"; epochs are a number of the run
std::string settings_text(const TuneRun& run) {
  Json settings = Json::parse(run.settings);
  settings.erase("epochs");
  std::string text = run.trial == 1 ? "the defaults" : "";
  for (const auto& [name, value] : settings.members())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value_text(value));
  return text;
}

std::string row_text(const TuneTrial& trial) {
  const TuneRun& run = trial.run;
  const std::string confirmed =
      std::isnan(trial.confirmed) ? "" : fmt::format("{:.5g}", trial.confirmed);
  return fmt::format("{:>5}  {:>6}  {:>10.5g}  {:>9}  {:>7.1f}  {}", run.trial, run.epochs,
                     run.valid_metric, confirmed, run.seconds, settings_text(run));
}

// The best trials, and the defaults if they are not among them.
std::vector<std::string> leaderboard(const std::vector<TuneTrial>& trials, Metric metric) {
  std::vector<std::string> lines = {fmt::format("{:>5}  {:>6}  {:>10}  {:>9}  {:>7}  {}", "trial",
                                                "epochs", to_word(metric), "confirmed", "seconds",
                                                "settings")};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (i < kShown || trials[i].run.trial == 1) lines.push_back(row_text(trials[i]));
  }
  return lines;
}

std::string run_text(const TuneRun& run, Metric metric) {
  return fmt::format("trial {}{}  epochs {}  {} {:.5g}  {:.1f} s  {}", run.trial,
                     run.repeat > 0 ? fmt::format("  repeat {}", run.repeat) : "", run.epochs,
                     to_word(metric), run.valid_metric, run.seconds, settings_text(run));
}

// Progress of the search: a status line on a terminal, else lines.
class Board {
 public:
  Board(Talk talk, const TuneOptions& options)
      : talk_(talk), options_(options), line_(talk != Talk::quiet) {}

  void show(const TuneProgress& progress) {
    if (talk_ == Talk::verbose && progress.finished != nullptr)
      say(run_text(*progress.finished, progress.metric));
    if (!line_.due()) return;
    std::vector<TuneTrial> trials;
    for (TuneRun& run : ranked(progress.runs, progress.metric)) trials.push_back({.run = run});
    const double limit = 60 * options_.minutes;
    std::string text =
        fmt::format("{} runs of {} trials  {} {}", progress.runs.size(), trials.size(),
                    progress.running, progress.confirming ? "confirming" : "running");
    text += limit > 0
                ? fmt::format("  {} left", clock_text(std::max(0.0, limit - progress.seconds)))
                : fmt::format("  {}", clock_text(progress.seconds));
    const double time_share = limit > 0 ? progress.seconds / limit : 0;
    const double trial_share =
        options_.trials > 0 ? static_cast<double>(trials.size()) / options_.trials : 0;
    line_.draw(std::max(time_share, trial_share), text, leaderboard(trials, progress.metric));
  }

  void say(const std::string& line) { line_.say(line); }

  void clear() { line_.clear(); }

 private:
  const Talk talk_;
  const TuneOptions& options_;
  StatusLine line_;
};

TuneResult tune_with_progress(const TuneFlags& flags, const TrainingTables& tables, Board& board,
                              StopOnSignal& stop) {
  ProgressBar bar(flags.training.talk());
  TuneControl control{.valid = flags.training.valid.empty() ? nullptr : &tables.valid,
                      .stop = stop.token(),
                      .results = flags.results,
                      .ranks = flags.training.ranks};
  if (flags.training.is_first()) {
    control.warning = [&](const std::string& text) {
      bar.clear();
      board.say("espalier: warning: " + text);
    };
  }
  control.progress = [&](const TuneProgress& progress) {
    if (!progress.runs.empty()) stop.keep();
    board.show(progress);
  };
  control.final_progress = [&](const Progress& progress) {
    board.clear();
    bar.show(progress);
  };
  return tune(tables.train, flags.training.options, flags.tune, control);
}

// The flags that train the same model without a search.
std::string flags_text(const TrainOptions& given, const TrainOptions& used) {
  const Json before = Json::parse(to_json(given)), after = Json::parse(to_json(used));
  std::string text;
  visit_fields(used, [&](const Field& field, const auto&) {
    const Json& value = after[field.name];
    if (value == before[field.name]) return;
    const std::string shown = value_text(value);
    const char* const quote = shown.find_first_of(" *(") != shown.npos ? "'" : "";
    text +=
        fmt::format("{}{} {}{}{}", text.empty() ? "" : " ", flag_name(field), quote, shown, quote);
  });
  return text;
}

// NaN becomes null.
Json json_of(const TuneTrial& trial) {
  return {{"trial", trial.run.trial},        {"rung", trial.run.rung},
          {"epochs", trial.run.epochs},      {"settings", Json::parse(trial.run.settings)},
          {"value", trial.run.valid_metric}, {"confirmed", trial.confirmed},
          {"seconds", trial.run.seconds}};
}

Json result_json(const TuneResult& result, Json trained) {
  Json trials = Json::array(), defaults;
  for (const TuneTrial& trial : result.trials) {
    trials.push_back(json_of(trial));
    if (trial.run.trial == 1) defaults = trials[trials.size() - 1];
  }
  return {{"metric", to_word(result.trained.metric)},
          {"best", trials.empty() ? Json() : trials[0]},
          {"defaults", std::move(defaults)},
          {"trials", std::move(trials)},
          {"search", result.search},
          {"stopped", result.stopped},
          {"trained", std::move(trained)}};
}

// Splits a list at commas outside brackets, which belong to layers: lin(9,split).
Strings joined_in_brackets(const Strings& parts) {
  Strings joined;
  for (const std::string& part : parts) {
    const bool is_open = !joined.empty() && std::ranges::count(joined.back(), '(') >
                                                std::ranges::count(joined.back(), ')');
    if (is_open)
      joined.back() += "," + part;
    else
      joined.push_back(part);
  }
  return joined;
}

int run_tune(TuneFlags& flags) {
  TrainingFlags& training = flags.training;
  if (flags.results == "-")
    throw Error(ErrorKind::argument, "--results: standard output cannot be read back, name a file");
  settle_training_flags(training, {.outputs = {{"--results", flags.results}}});
  flags.tune.search = joined_in_brackets(flags.tune.search);
  validate(flags.tune);
  Board board(training.talk(), flags.tune);
  StopOnSignal stop("the best settings so far", [&](const std::string& line) {
    if (training.is_first()) board.say(line);
  });
  const TrainingTables tables = read_tables(training);
  const TuneResult result = tune_with_progress(flags, tables, board, stop);
  if (!training.is_first()) return 0;
  const Certificate proof = save_proven(result.trained.model, training.output);
  if (!training.quiet) {
    for (const std::string& line : leaderboard(result.trials, result.trained.metric)) tell(line);
    tell(fmt::format("trials        {}{}\nflags         {}", result.trials.size(),
                     result.stopped ? ", stopped early" : "",
                     flags_text(training.options, result.trained.options)));
    tell(summary_text(result.trained, proof, training.output));
  }
  if (training.json)
    print_json(result_json(result, summary_json(result.trained, proof, training.output)));
  return 0;
}

}  // namespace

Run define_tune(CLI::App& app) {
  const auto flags = std::make_shared<TuneFlags>();
  app.add_option("--results", flags->results,
                 "a file with one JSON line per finished run; an interrupted search continues from "
                 "it")
      ->type_name("FILE");
  add_training_flags(app, flags->training, "each finished run");
  add_fields(app, flags->tune, "Search");
  return [flags] { return run_tune(*flags); };
}

}  // namespace espalier
