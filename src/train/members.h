// SPDX-License-Identifier: Apache-2.0
// Fits the members of a mixture beside each other, with progress and checkpoints.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/stopwatch.h"
#include "espalier/train.h"
#include "train/checkpoint.h"
#include "train/learner.h"
#include "train/rotation.h"

namespace espalier {

/// What a fit has given.
struct FittedMember {
  int number = 1;  // of the member among those of its learner
  Member member;
  std::vector<float> valid_rows = {};  // its outputs for the rows that it has not seen
};

struct Members {
  std::vector<FittedMember> networks;
  std::vector<FittedMember> forests;  // empty if one of those that were wanted is missing
  double tree_seconds = 0;
};

/// What the fits of a run share.
struct Run {
  const TrainControl& control;
  Team& team;
  CheckpointFile& file;
  Checkpoint checkpoint;  // the state of the run, and what it continues from
  const Stopwatch& watch;
  std::int64_t rows_before = 0;  // trained on by decisions before the fits
};

/// Fits the networks and forests that the options want. Networks that were stopped before they had
/// learned anything are left out. Throws as train() does.
Members fit_members(const Problem& problem, const std::optional<Rotation>& rotation, Run& run);

}  // namespace espalier
