// SPDX-License-Identifier: Apache-2.0
// train(), the story of a training: a table and options pose a problem; decisions make other
// problems of it; learners fit members to it; the members become a mixture, and the mixture a
// verified model.
#include "espalier/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "core/default_floats.h"
#include "core/large_vector.h"
#include "core/stopwatch.h"
#include "espalier/error.h"
#include "model/label_json.h"
#include "model/leaf_orders.h"
#include "model/model_file.h"
#include "train/checkpoint.h"
#include "train/crystal_search.h"
#include "train/idle_options.h"
#include "train/interaction_search.h"
#include "train/interactions.h"
#include "train/members.h"
#include "train/mixture.h"
#include "train/needed_memory.h"
#include "train/shared_rows.h"
#include "train/train_on.h"
#include "train/trainer.h"

namespace espalier {

namespace {

void warn_of_undefined_metric(const Problem& p, const TrainControl& control) {
  if (!control.warning || p.valid.num_rows == 0) return;
  const Metric metric = p.options->metric;
  if (!std::isnan(metric_of_constant(metric, p.schema.label, p.valid))) return;
  control.warning(fmt::format(
      "metric: {} is not defined on the {} validation rows, so training keeps the last epoch; set "
      "another metric, or give validation rows with other labels",
      to_word(metric), p.valid.num_rows));
}

void warn_of(const Problem& problem, const TrainOptions& options, const TrainControl& control,
             Team& team) {
  warn_of_idle_options(options, problem, control);
  warn_of_shared_rows(problem, control, team);
  warn_of_undefined_metric(problem, control);
}

// Where the options leave the choice open: what an earlier run has chosen, if this one continues
// it.
std::vector<std::string> wanted_interactions(const TrainOptions& options,
                                             const std::optional<Checkpoint>& checkpoint) {
  if (!checkpoint || !leaves_interactions_open(options.interactions)) return options.interactions;
  TrainOptions earlier;
  for (const auto& [name, value] : checkpoint->fingerprint.options) {
    if (name == "interactions")
      apply_json(earlier, fmt::format("{{\"{}\": {}}}", name, value), "checkpoint");
  }
  return earlier.interactions;
}

// How training went, without anything that differs between two equal runs.
std::string training_json(const TrainResult& result) {
  Json options = Json::parse(to_json(result.options));
  options.erase("threads");
  Json json = {
      {"options", options}, {"train_rows", result.train_rows}, {"valid_rows", result.valid_rows}};
  Json epochs = Json::array();
  for (const Epoch& epoch : result.best) epochs.push_back(epoch.epoch);
  json["best_epochs"] = epochs;
  for (const MetricValue& metric : result.valid_metrics)
    json["validation"][std::string(to_word(metric.metric))] = metric.value;
  if (!result.choices.empty())
    json["choices"] = Json::parse(choices_to_json(result.choices), "choices");
  return json.dump();
}

// Every model is verified before it is saved. Each step of training projects, so a broken
// inequality would be an error in the library.
void require_proof(const ModelData& model) {
  const CulpritSink fail = [](const std::string& culprit) {
    throw Error(ErrorKind::unsupported, "the trained parameters break an inequality: " + culprit);
  };
  check_levels(model.schema.label, fail);
  for (const ModelMember& member : model.members) {
    if (member.is_network()) {
      check_network(member.network(), fail, [](int, const Check&) {});
    } else {
      check_forest(member.forest(), model.schema, fail);
    }
  }
  require_finite_scores(model, [&](const std::string& why) {
    throw Error(ErrorKind::data,
                fmt::format("label '{}': its values are too large: {}; divide them "
                            "by a constant",
                            model.schema.label.name, why));
  });
}

}  // namespace

std::string choices_to_json(const std::vector<Choice>& choices) {
  Json list = Json::array();
  for (const Choice& choice : choices) {
    Json json = {{"setting", choice.setting}, {"value", choice.value}, {"why", choice.why}};
    if (!choice.alternatives.empty()) json["alternatives"] = choice.alternatives;
    if (std::isfinite(choice.improvement)) json["improvement"] = choice.improvement;
    if (std::isfinite(choice.error)) json["standard_error"] = choice.error;
    if (choice.rows > 0) json["rows"] = choice.rows;
    list.push_back(json);
  }
  return list.dump();
}

TrainResult train_on(const Source& source, const TrainOptions& options,
                     const TrainControl& control) {
  const DefaultFloats floats;
  std::optional<SpillTo> spill;
  if (!control.scratch.empty()) spill.emplace(control.scratch);
  validate(options);
  Team team(options.threads, control.ranks, control.stop);
  CheckpointFile file(control, team.is_first());
  std::optional<Checkpoint> earlier = file.read(team);
  const std::uint64_t words = control.memory > 0 ? memory_of_categories(source.table) : 0;

  // The problem.
  Problem problem = pose(source, options, control);
  const bool is_compared = file.wanted() || team.ranks() != nullptr;
  const DataHashes hashes = is_compared ? hashes_of(problem, team.ranks()) : DataHashes();
  require_same_on_all_ranks(problem, hashes, team);
  warn_of(problem, options, control, team);
  if (earlier) {
    file.require_no(difference_of_inputs(earlier->fingerprint,
                                         fingerprint_of(problem.options, problem, hashes)));
  }
  if (control.memory > 0)
    require_memory(needed_memory(problem, words, team.pool().size()), control.memory);

  // Decisions before the fits: an earlier run's, or those of searches.
  const Stopwatch watch;
  std::vector<Choice> choices;
  problem = choose_pairs(wanted_interactions(options, earlier), std::move(problem), team, control,
                         choices);
  std::int64_t search_rows = choices.empty() ? 0 : choices.back().rows;
  if (earlier) {
    problem.architecture = parse_architecture(earlier->architecture);
    choices = earlier->choices;
  }
  problem = choose_wiring(std::move(problem), team, control, search_rows);
  const double search_seconds = watch.seconds();
  const Fingerprint fingerprint = fingerprint_of(problem.options, problem, hashes);
  if (earlier) file.require_no(difference(earlier->fingerprint, fingerprint));

  // Members. A search that was stopped chose other pairs or wires than a whole one would: there is
  // nothing to resume.
  if (team.stop_requested()) file.keep_nothing();
  std::optional<Rotation> rotation;
  if (problem.options->ensemble > 1 && problem.validation == Validation::split_off)
    rotation.emplace(problem);
  Run run{
      .control = control,
      .team = team,
      .file = file,
      .checkpoint = {.fingerprint = fingerprint,
                     .architecture = to_string(problem.architecture),
                     .choices = choices,
                     .members = earlier ? std::move(earlier->members) : std::vector<MemberState>()},
      .watch = watch,
      .rows_before = search_rows};
  Members members = fit_members(problem, rotation, run);
  const bool is_stopped = team.stop_requested();
  if (members.networks.empty())
    throw Error(ErrorKind::stopped, "stopped before the first epoch had ended: there is no model");

  // The mixture, and what is recorded of it.
  const double tree_seconds = members.tree_seconds;
  std::vector<Epoch> best, history;
  for (const FittedMember& network : members.networks) {
    best.push_back(network.member.best);
    std::ranges::copy(network.member.history, std::back_inserter(history));
  }
  Mixture mixture = mix(problem, rotation, std::move(members), is_stopped, choices);
  Validated validated = fit_offsets(problem, mixture, team);
  require_proof(*mixture.model);
  TrainResult result{.model = Model(mixture.model),
                     .options = *mixture.options,
                     .metric = problem.options->metric,
                     .history = std::move(history),
                     .best = std::move(best),
                     .train_rows = problem.train.num_rows,
                     .valid_rows = validated.rows,
                     .valid_metrics = std::move(validated.metrics),
                     .stopped = is_stopped,
                     .search_seconds = search_seconds,
                     .tree_seconds = tree_seconds,
                     .choices = std::move(choices)};
  mixture.model->training_json = training_json(result);
  result.seconds = watch.seconds();
  return result;
}

TrainResult train(const Table& table, const TrainOptions& options, const TrainControl& control) {
  return train_on({.table = table}, options, control);
}

TrainResult train(Table&& table, const TrainOptions& options, const TrainControl& control) {
  Table owned = std::move(table);
  return train_on({.table = owned, .owned = &owned}, options, control);
}

}  // namespace espalier
