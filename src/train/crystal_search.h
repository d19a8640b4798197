// SPDX-License-Identifier: Apache-2.0
// Training a first network to find out which features should share a lattice.
#pragma once

#include "core/thread_pool.h"
#include "train/prepare.h"

namespace espalier {

/// Lists the wires of a first layer gather(GxS,crystals), if the architecture has one, and notes
/// how long that took. Throws Error (argument) for sizes that cannot be.
void settle_wiring(Prepared& prepared, ThreadPool& pool, const TrainControl& control);

}  // namespace espalier
