// SPDX-License-Identifier: Apache-2.0
// From what is trained on to a proven model: the networks one after another, with settings tried on the
// first of them, progress and checkpoints.
#pragma once

#include <optional>

#include "core/stopwatch.h"
#include "espalier/train.h"
#include "train/checkpoint.h"
#include "train/prepare.h"
#include "train/team.h"

namespace espalier {

/// Goes on from a checkpoint, if there is one. Settings of `prepared` that are open may change. Throws
/// as train() does.
TrainResult train_members(Prepared& prepared, const TrainControl& control, CheckpointFile& file,
                          Team& team, const Stopwatch& watch, std::optional<Checkpoint> checkpoint);

}  // namespace espalier
