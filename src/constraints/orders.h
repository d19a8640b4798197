// SPDX-License-Identifier: Apache-2.0
// Projection of values onto a list of orders between them:
//
//   argmin_x  sum_i w_i (x_i - values_i)^2   subject to   x_low <= x_high for every order
//
// by Dykstra's method, one order after another. What its last round leaves open, and rounding to
// floats, is set right by maxima and minima along the orders, which land exactly.
#pragma once

#include <span>
#include <vector>

#include "constraints/chain.h"
#include "constraints/inequalities.h"

namespace espalier {

// The fewest of the orders between `count` values that imply all of them: an order is left out if
// the others lead from its low to its high value. Both lists ascend by `low`, then by `high`.
std::vector<Order> transitive_reduction(std::span<const Order> orders, std::size_t count);

// Values are finite, and orders ascend by `low`, as they do where they are listed one value after
// another. The inequalities hold exactly afterwards; values for which they do stay as they are.
void project_orders(std::span<float> values, std::span<const Order> orders,
                    const ChainWeights& weights = {});

// Every value halfway between the largest of those that may not lie above it and the least of those
// that may not lie below. Exact, but not near: a finish.
void finish_orders(std::span<float> values, std::span<const Order> orders);

}  // namespace espalier
