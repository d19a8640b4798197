// SPDX-License-Identifier: Apache-2.0
// Finding pairs of features that are worth a crossed category, or a grid that keeps their directions,
// on the training rows alone.
//
// Additive models predict the rows out of fold. Their gradients say how much a table over two features
// would improve the loss (train/screen.h). The pair with the largest clear improvement is taken, its
// table is added to the models, and all pairs that stood out are compared again. No model is trained
// for a pair.
#pragma once

#include <string>
#include <vector>

#include "train/prepare.h"
#include "train/team.h"

namespace espalier {

/// Settles what `wanted` says of interactions: sets the option, the pairs of the schema and their
/// cells in both sets of rows. Throws Error (argument) for pairs that cannot be.
void settle_interactions(const std::vector<std::string>& wanted, Prepared& prepared, Team& team,
                         const TrainControl& control);

}  // namespace espalier
