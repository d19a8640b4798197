// SPDX-License-Identifier: Apache-2.0
// Training a first network to find out which features should share a lattice.
#pragma once

#include "train/prepare.h"
#include "train/team.h"

namespace espalier {

/// Throws Error (argument) unless a gather(GxS,crystals) has lattices of 2 columns or more and a
/// place for each of `features` columns, of which there are not too many.
void require_places(const LayerSpec& gather, std::size_t features);

/// Lists the wires of a first layer gather(GxS,crystals), if the architecture has one, and notes
/// how long that took. Throws Error (argument) for sizes that cannot be.
void settle_wiring(Prepared& prepared, Team& team, const TrainControl& control);

}  // namespace espalier
