// SPDX-License-Identifier: Apache-2.0
// Finding pairs of columns that are worth a crossed category, or a table that keeps their directions,
// on the training rows alone.
//
// Networks that know no pair predict the rows out of fold, three times. What they leave unexplained
// is screened (train/screen.h) for pairs. Those that stand out are tried in turn, with several
// numbers of bins: one more network on the rows of the first fold, judged by the loss of the rows
// that it holds out, row by row beside the network without the pair; where that leaves a doubt, so on
// with the other folds. A pair that does not lower the loss clearly is left out, and so there may be
// none.
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
