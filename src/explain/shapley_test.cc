// SPDX-License-Identifier: Apache-2.0
#include "explain/shapley.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <vector>

#include "core/random.h"

namespace espalier {
namespace {

std::vector<double> random_game(std::size_t players, Random& random) {
  std::vector<double> values(std::size_t{1} << players);
  for (double& value : values) value = random.normal();
  return values;
}

std::vector<double> shares_of(const std::vector<double>& values) {
  std::vector<double> shares(static_cast<std::size_t>(std::countr_zero(values.size())));
  exact_shares(values, shares);
  return shares;
}

TEST(Shapley, SharesAGloveGame) {
  // Player 0 has a left glove, 1 and 2 have right ones; a pair is worth 1.
  const std::vector<double> values = {0, 0, 0, 1, 0, 1, 0, 1};
  const std::vector<double> shares = shares_of(values);
  EXPECT_NEAR(shares[0], 4.0 / 6, 1e-15);
  EXPECT_NEAR(shares[1], 1.0 / 6, 1e-15);
  EXPECT_NEAR(shares[2], 1.0 / 6, 1e-15);
}

TEST(Shapley, ExactSharesAreTheMeanOverAllOrders) {
  Random random(1);
  for (std::size_t players = 0; players <= 6; ++players) {
    const std::vector<double> values = random_game(players, random);
    std::vector<std::size_t> order(players);
    for (std::size_t i = 0; i < players; ++i) order[i] = i;
    std::vector<double> sums(players);
    double orders = 0;
    do {
      std::size_t coalition = 0;
      for (const std::size_t player : order) {
        const std::size_t with = coalition | std::size_t{1} << player;
        sums[player] += values[with] - values[coalition];
        coalition = with;
      }
      ++orders;
    } while (std::ranges::next_permutation(order).found);
    const std::vector<double> shares = shares_of(values);
    double total = 0;
    for (std::size_t i = 0; i < players; ++i) {
      EXPECT_NEAR(shares[i], sums[i] / orders, 1e-12);
      total += shares[i];
    }
    EXPECT_NEAR(total, values.back() - values.front(), 1e-12);
  }
}

TEST(Shapley, EqualPlayersGetEqualSharesAndIdleOnesNothing) {
  Random random(2);
  for (int round = 0; round < 50; ++round) {
    // Players 0 and 1 count alike, 2 never counts.
    std::vector<double> values = random_game(6, random);
    for (std::size_t s = 0; s < values.size(); ++s) {
      if ((s & 3) == 2) values[s] = values[s ^ 3];
    }
    for (std::size_t s = 0; s < values.size(); ++s) values[s] = values[s & ~std::size_t{4}];
    const std::vector<double> shares = shares_of(values);
    EXPECT_NEAR(shares[0], shares[1], 1e-14);
    EXPECT_EQ(shares[2], 0);
  }
}

TEST(Shapley, WeightsOfAPlayerSumToOne) {
  for (std::size_t players = 1; players <= 20; ++players) {
    const std::vector<double> weights = shapley_weights(players);
    double total = 0, choices = 1;
    for (std::size_t s = 0; s < players; ++s) {
      EXPECT_GT(weights[s], 0);
      total += weights[s] * choices;
      choices = choices * static_cast<double>(players - 1 - s) / static_cast<double>(s + 1);
    }
    EXPECT_NEAR(total, 1, 1e-12);
  }
}

TEST(Shapley, OrdersComeInPairsAndHoldEveryPlayer) {
  const Orders orders = antithetic_orders(7, 10, 5);
  ASSERT_EQ(orders.size(), 20u);
  for (std::size_t o = 0; o < orders.size(); o += 2) {
    EXPECT_EQ(std::set(orders[o].begin(), orders[o].end()).size(), 7u);
    EXPECT_EQ(orders[o + 1], std::vector(orders[o].rbegin(), orders[o].rend()));
  }
  EXPECT_EQ(orders, antithetic_orders(7, 10, 5));
  EXPECT_NE(orders, antithetic_orders(7, 10, 6));
}

TEST(Shapley, TheErrorIsThatOfTheMeansOfPairs) {
  OrderedShares shares(1);
  for (const double gain : {1.0, 3.0, 4.0, 6.0}) {  // means of pairs: 2 and 5
    shares.add(0, gain);
    if (gain == 3 || gain == 6) shares.end_pair();
  }
  EXPECT_DOUBLE_EQ(shares.share(0), 3.5);
  EXPECT_DOUBLE_EQ(shares.standard_error(0), 1.5);
}

}  // namespace
}  // namespace espalier
