// SPDX-License-Identifier: Apache-2.0
// The first trial of a search: what train() would settle on.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "espalier/json.h"
#include "espalier/train.h"
#include "espalier/tune.h"
#include "search/problem.h"
#include "train/team.h"

namespace espalier {

struct FirstTrial {
  /// What train() chose by its validation rows: epochs, architecture, penalties; without what it
  /// would have chosen by the number of rows alone. Nothing if folds say that the latter is better.
  Json settings = Json::object();
  /// The training that had them; nothing if there was none, because nothing is open or an earlier
  /// search has made the choice.
  std::optional<TrainResult> trained = {};
  double seconds = 0;       // of a trial like it on one thread; 0: not known
  double tree_seconds = 0;  // on one thread, of the trees beside its network, which trials have not
};

/// Trains as train() does, on as many threads, where the options leave something open. `earlier` has
/// the runs of a search that this one continues. Throws Error (stopped) if it is stopped, Error
/// (format) for earlier settings that train() cannot have chosen, and as train().
FirstTrial first_trial(const Problem& problem, std::span<const TuneRun> earlier,
                       const std::function<void()>& tell, const TuneControl& control, Team& team);

/// As a run of so many seconds that judges it on the validation rows; nothing with folds, or without a
/// training.
std::optional<TuneRun> run_of(const FirstTrial& first, const Problem& problem, double seconds);

[[noreturn]] void fail_stopped();

}  // namespace espalier
