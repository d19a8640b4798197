// SPDX-License-Identifier: Apache-2.0
#include "explain/shapley.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/random.h"

namespace espalier {

std::vector<double> shapley_weights(std::size_t players) {
  std::vector<double> weights(players);
  double choices = 1;  // C(players - 1, s)
  for (std::size_t s = 0; s < players; ++s) {
    weights[s] = 1 / (static_cast<double>(players) * choices);
    choices = choices * static_cast<double>(players - 1 - s) / static_cast<double>(s + 1);
  }
  return weights;
}

void exact_shares(std::span<const double> values, std::span<double> shares) {
  const std::vector<double> weights = shapley_weights(shares.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const std::size_t player = std::size_t{1} << i;
    double sum = 0;
    for (std::size_t high = 0; high < values.size(); high += 2 * player) {
      for (std::size_t s = high; s < high + player; ++s)
        sum +=
            weights[static_cast<std::size_t>(std::popcount(s))] * (values[s + player] - values[s]);
    }
    shares[i] = sum;
  }
}

Orders antithetic_orders(std::size_t players, std::size_t pairs, std::uint64_t seed) {
  Random random(seed);
  Orders orders;
  std::vector<std::size_t> order(players);
  for (std::size_t i = 0; i < players; ++i) order[i] = i;
  for (std::size_t p = 0; p < pairs; ++p) {
    random.shuffle(std::span(order));
    orders.push_back(order);
    orders.emplace_back(order.rbegin(), order.rend());
  }
  return orders;
}

void OrderedShares::end_pair() {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const double mean = pair_sums_[i] / 2;
    squares_[i] += mean * mean;
    pair_sums_[i] = 0;
  }
  ++pairs_;
}

double OrderedShares::share(std::size_t player) const {
  return sums_[player] / static_cast<double>(2 * pairs_);
}

double OrderedShares::standard_error(std::size_t player) const {
  const auto count = static_cast<double>(pairs_);
  const double mean = share(player);
  const double variance = (squares_[player] / count - mean * mean) * count / (count - 1);
  return std::sqrt(std::max(0.0, variance) / count);
}

}  // namespace espalier
