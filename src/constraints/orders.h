// SPDX-License-Identifier: Apache-2.0
// Projection of values onto a list of orders:
//
//   argmin_x  sum_i w_i (x_i - values_i)^2   subject to   x_low <= x_high for every order
//
// by Dykstra's method, order by order. Maxima and minima along the orders repair what the last
// round and rounding to floats leave open, so that the result is exact.
#pragma once

#include <span>
#include <vector>

#include "constraints/chain.h"
#include "constraints/inequalities.h"

namespace espalier {

// The transitive reduction: the smallest set of orders between `count` values that implies all of
// them. Both lists are sorted by `low`, then by `high`.
std::vector<Order> transitive_reduction(std::span<const Order> orders, std::size_t count);

// Values are finite, and orders are sorted by `low`. The inequalities hold exactly afterwards;
// values for which they hold do not change.
void project_orders(std::span<float> values, std::span<const Order> orders,
                    const ChainWeights& weights = {});

// Moves every value halfway between the largest value that must not exceed it and the smallest
// value that it must not exceed. Exact, but not the nearest values: a final repair.
void finish_orders(std::span<float> values, std::span<const Order> orders);

}  // namespace espalier
