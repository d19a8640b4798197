// SPDX-License-Identifier: Apache-2.0
// Starting values for a network, layer by layer: each layer sees what the layers before it make of
// a sample of the training rows.
#pragma once

#include "encode/dataset.h"
#include "espalier/ranks.h"
#include "model/network.h"
#include "train/settled_options.h"

namespace espalier {

/// Sets parameters and constants; the result meets every inequality. `ranks`, if there are any,
/// have the rows between them.
void initialize(const Dataset& train, const Label& label, const SettledOptions& options,
                Random random, Network& network, Ranks* ranks = nullptr);

}  // namespace espalier
