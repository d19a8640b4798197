// SPDX-License-Identifier: Apache-2.0
// Options that somebody has set although they have no effect in a run.
#pragma once

#include <string>
#include <vector>

#include "espalier/options.h"
#include "espalier/train.h"
#include "train/problem.h"

namespace espalier {

/// A line for each reason: "tree_leaves, tree_rate: no effect in this run: trees is 0". An option
/// that has its default value counts as not set.
std::vector<std::string> idle_options(const TrainOptions& options, const Problem& problem,
                                      bool has_valid);

/// Warns of them.
void warn_of_idle_options(const TrainOptions& options, const Problem& problem,
                          const TrainControl& control);

}  // namespace espalier
