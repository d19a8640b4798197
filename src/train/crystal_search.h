// SPDX-License-Identifier: Apache-2.0
// Training a first network to find out which features should share a lattice.
#pragma once

#include "train/problem.h"
#include "train/team.h"

namespace espalier {

/// Throws Error (argument) unless a gather(GxS,crystals) has lattices of 2 columns or more and a
/// place for each of `features` columns, of which there are not too many.
void require_places(const LayerSpec& gather, std::size_t features);

/// The problem with the wires of a first layer gather(GxS,crystals) listed, if the architecture has
/// one. Adds the rows that the search trained on to `rows`. Throws Error (argument) for sizes that
/// cannot be.
Problem choose_wiring(Problem problem, Team& team, const TrainControl& control, std::int64_t& rows);

}  // namespace espalier
