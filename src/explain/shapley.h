// SPDX-License-Identifier: Apache-2.0
// Shapley values of a game of k players with values v(S) of coalitions S:
//
//   exact         share_i = sum over S without i of w_|S| (v(S + i) - v(S)),
//                 w_s = s! (k - 1 - s)! / k! = 1 / (k C(k - 1, s))
//   permutations  share_i = the mean over permutations of v(up to i) - v(before i)
//
// Sums are in double, in a fixed order, and every weight is positive. So share_i is increasing in
// the values of coalitions with i, to the last bit (docs/explain.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace espalier {

/// w_s for s = 0 ... k - 1.
std::vector<double> shapley_weights(std::size_t players);

/// values: [2^k], player i is bit i of a coalition. shares: [k]
void exact_shares(std::span<const double> values, std::span<double> shares);

/// Orders of `players`, each followed by its reverse.
using Orders = std::vector<std::vector<std::size_t>>;
Orders antithetic_orders(std::size_t players, std::size_t pairs, std::uint64_t seed);

/// Accumulates the contributions of players in pairs of orders.
class OrderedShares {
 public:
  explicit OrderedShares(std::size_t players)
      : sums_(players), pair_sums_(players), squares_(players) {}

  /// Adds the contribution of a player in the current order.
  void add(std::size_t player, double gain) {
    sums_[player] += gain;
    pair_sums_[player] += gain;
  }
  /// Ends a pair of orders.
  void end_pair();

  double share(std::size_t player) const;
  /// The standard error of the share: the deviation of the means of pairs / sqrt(number of pairs).
  double standard_error(std::size_t player) const;

 private:
  std::vector<double> sums_;
  std::vector<double> pair_sums_;  // of the current pair
  std::vector<double> squares_;    // of the means of pairs
  std::size_t pairs_ = 0;
};

}  // namespace espalier
