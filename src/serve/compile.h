// SPDX-License-Identifier: Apache-2.0
// From a model to its serving program.
#pragma once

#include "espalier/model.h"
#include "model/network.h"
#include "serve/program.h"

namespace espalier {

/// The program of a model. Its networks must pass check_network: then no value on a wire overflows,
/// and no infinity meets another.
Program compile(const Model& model);

/// The steps of one network, one per layer.
std::vector<Step> compile(const Network& network);

}  // namespace espalier
