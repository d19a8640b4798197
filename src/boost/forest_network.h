// SPDX-License-Identifier: Apache-2.0
// A forest as a network:
//
//   gather(...) cal(2) tree(...) sum
//
// The calibrators read the columns: a number as its place between its ends, with missing cells at
// one of them, and a category as the answer to a question, 0 or 1 for each word. A question about a
// number asks whether its place is above about the middle between the last training row that
// answers 0 and the first that answers 1. So a forest is proven, stored, served and exported as any
// other network is.
#pragma once

#include <vector>

#include "boost/forest.h"
#include "espalier/choices.h"
#include "model/network.h"

namespace espalier {

/// inputs: all wires of the model, those of the features first. The forest has a tree or more.
Network network_of(const Forest& forest, const std::vector<Wire>& inputs,
                   MonotoneCalibrators calibrators);

}  // namespace espalier
