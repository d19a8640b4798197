// SPDX-License-Identifier: Apache-2.0
// Starting values for a network, layer by layer: each layer sees what the layers before it make of
// a sample of the training rows.
#pragma once

#include "data/dataset.h"
#include "espalier/options.h"
#include "model/network.h"

namespace espalier {

/// Sets parameters and constants; the result meets every inequality.
void initialize(const Dataset& train, const TrainOptions& options, Random random, Network& network);

}  // namespace espalier
