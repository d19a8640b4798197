// SPDX-License-Identifier: Apache-2.0
// A forest as a network of lattices:
//
//   gather(...) cal(2) gather(...) cal(2) lat(TxD) sum
//
// The first calibrators read the columns: a number as its place between its ends, a category as the
// answer to a question, 0 or 1 for each word. The second ones are the questions for numbers: a step
// from 0 to 1 between the last training row that answers 0 and the first that answers 1. A lattice
// then has the leaves of a tree at its vertices. So a forest is proven, stored, served and exported
// as any other network is.
#pragma once

#include <vector>

#include "boost/forest.h"
#include "espalier/choices.h"
#include "model/network.h"

namespace espalier {

/// inputs: all wires of the model, those of the features first. The forest has a tree or more.
Network network_of(const Forest& forest, const std::vector<Wire>& inputs, int depth,
                   MonotoneCalibrators calibrators);

}  // namespace espalier
