// SPDX-License-Identifier: Apache-2.0
// Validation rows that are training rows too: their loss says nothing about new rows.
#pragma once

#include <cstddef>

#include "encode/dataset.h"
#include "espalier/train.h"
#include "train/problem.h"
#include "train/team.h"

namespace espalier {

/// How many validation rows have the features and the label of a training row, by a hash of them.
/// All ranks call it.
std::size_t count_shared_rows(const Dataset& train, const Dataset& valid, Team& team);

/// Warns if rows of control.valid are training rows. All ranks call it.
void warn_of_shared_rows(const Problem& problem, const TrainControl& control, Team& team);

}  // namespace espalier
