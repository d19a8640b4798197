// SPDX-License-Identifier: Apache-2.0
// Finding pairs of features that are worth a crossed category, or a grid that keeps their
// directions, on the training rows alone.
//
// Additive models predict the rows out of fold. Their gradients say how much a table over two
// features would improve the loss (train/screen.h). The pair with the largest clear improvement is
// taken, its table is added to the models, and all pairs that stood out are compared again. No
// model is trained for a pair.
#pragma once

#include <string>
#include <vector>

#include "train/problem.h"
#include "train/team.h"

namespace espalier {

/// The problem with the pairs that `wanted` names, or that are found where it leaves them open: its
/// option, its schema and its rows have them. A choice has all pairs that clearly improve the loss
/// as alternatives, those in use first. Throws Error (argument) for pairs that cannot be.
Problem choose_pairs(const std::vector<std::string>& wanted, Problem problem, Team& team,
                     const TrainControl& control, std::vector<Choice>& choices);

}  // namespace espalier
