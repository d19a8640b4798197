// SPDX-License-Identifier: Apache-2.0
// train(): from a table to a proven model.
#include "espalier/train.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "core/default_floats.h"
#include "core/large_vector.h"
#include "core/stopwatch.h"
#include "train/checkpoint.h"
#include "train/crystal_search.h"
#include "train/idle_options.h"
#include "train/interaction_search.h"
#include "train/interactions.h"
#include "train/needed_memory.h"
#include "train/prepare.h"
#include "train/session.h"
#include "train/shared_rows.h"
#include "train/team.h"
#include "train/train_on.h"
#include "train/trainer.h"

namespace espalier {

namespace {

// Where the options leave the choice open: what an earlier run has chosen, if this one continues it.
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

void warn_of_undefined_metric(const Prepared& p, const TrainControl& control) {
  if (!control.warning || p.valid.num_rows == 0) return;
  const Metric metric = p.options->metric;
  if (!std::isnan(metric_of_constant(metric, p.schema.label, p.valid))) return;
  control.warning(fmt::format(
      "metric: {} is not defined on the {} validation rows, so training keeps the last epoch; set "
      "another metric, or give validation rows with other labels",
      to_word(metric), p.valid.num_rows));
}

}  // namespace

TrainResult train_on(const Source& source, const TrainOptions& options,
                     const TrainControl& control) {
  const DefaultFloats floats;
  std::optional<SpillTo> spill;
  if (!control.scratch.empty()) spill.emplace(control.scratch);
  validate(options);
  Team team(options.threads, control.ranks, control.stop);
  CheckpointFile file(control, team.is_first());
  std::optional<Checkpoint> checkpoint = file.read(team);
  const std::uint64_t words = control.memory > 0 ? memory_of_words(source.table) : 0;
  Prepared prepared = prepare(source, options, control);
  require_same_on_all_ranks(prepared, team);
  warn_of_idle_options(options, prepared, control);
  warn_of_shared_rows(prepared, control, team);
  warn_of_undefined_metric(prepared, control);
  if (file.wanted()) prepared.hashes = data_hashes(prepared, team.ranks());
  if (checkpoint) {  // before what it has chosen is taken over
    file.require_no(difference_of_inputs(checkpoint->fingerprint,
                                         fingerprint_of(prepared.options, prepared, team.ranks())));
  }
  const Stopwatch watch;
  LayerSpec& first = prepared.architecture.layers.front();
  if (checkpoint && first.wiring == Wiring::crystals)
    first = parse_architecture(checkpoint->network.architecture).layers.front();
  if (control.memory > 0)
    require_memory(needed_memory(prepared, words, team.pool().size()), control.memory);
  settle_interactions(wanted_interactions(options, checkpoint), prepared, team, control);
  settle_wiring(prepared, team, control);
  return train_members(prepared, control, file, team, watch, std::move(checkpoint));
}

TrainResult train(const Table& table, const TrainOptions& options, const TrainControl& control) {
  return train_on({.table = table}, options, control);
}

TrainResult train(Table&& table, const TrainOptions& options, const TrainControl& control) {
  Table owned = std::move(table);
  return train_on({.table = owned, .owned = &owned}, options, control);
}

}  // namespace espalier
