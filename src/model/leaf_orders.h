// SPDX-License-Identifier: Apache-2.0
// What monotonicity asks of the leaves of a tree. Let a row reach leaf A, and let the same row with
// constrained features moved in the direction of higher predictions reach leaf B. Then A <= B.
//
// The path to a leaf admits a set of values of each feature: an interval and perhaps missing
// values, or a set of categories. A row can go from A to B if, for each feature,
//   free         some value is admitted by both
//   increasing   some value that A admits is at most some value that B admits, or both admit
//   missing
//                values
//   decreasing   the same, downwards
// The paths part at a split. If its feature is free, no value goes both ways. So only splits on
// constrained features order leaves, and they order those on the side of low predictions below the
// others: orders never contradict each other.
#pragma once

#include <vector>

#include "constraints/check.h"
#include "constraints/inequalities.h"
#include "layers/layer.h"
#include "model/forest.h"

namespace espalier {

/// The orders between the leaves of a tree, transitively reduced: none of them follows from others.
std::vector<Order> leaf_orders(const DecisionForest& forest, const DecisionTree& tree,
                               const Schema& schema);

/// Checks the orders of all trees, exactly, and that each leaf value is finite. sink gets a
/// sentence for each violation.
Check check_forest(const DecisionForest& forest, const Schema& schema, const CulpritSink& sink);

/// The number of orders between leaves, of all trees.
std::size_t count_leaf_orders(const DecisionForest& forest, const Schema& schema);

/// No output is larger than this in magnitude.
double largest_output(const DecisionForest& forest);

}  // namespace espalier
