// SPDX-License-Identifier: Apache-2.0
#include "constraints/orders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "constraints/chain.h"
#include "core/random.h"

namespace espalier {
namespace {

// Between some values and later ones, by `low`.
std::vector<Order> random_orders(std::uint32_t count, double share, Random& random) {
  std::vector<Order> orders;
  for (std::uint32_t low = 0; low < count; ++low) {
    for (std::uint32_t high = low + 1; high < count; ++high) {
      if (random.uniform() < share) orders.push_back({low, high});
    }
  }
  return orders;
}

std::vector<float> random_values(std::size_t count, Random& random) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(random.normal()));
  return values;
}

double distance(const std::vector<float>& a, const std::vector<float>& b,
                const std::vector<float>& variance) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += std::sqrt(variance[i]) * (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

TEST(Orders, ProjectionsAndFinishLandExactlyAndLeaveWhatHolds) {
  Random random(1);
  for (int seed = 0; seed < 200; ++seed) {
    const auto count = static_cast<std::uint32_t>(1 + random.below(40));
    const std::vector<Order> orders = random_orders(count, random.uniform(), random);
    const std::vector<float> start = random_values(count, random);
    for (const bool nearest : {false, true}) {
      std::vector<float> values = start;
      nearest ? project_orders(values, orders) : finish_orders(values, orders);
      EXPECT_EQ(check_orders(values, orders).violations, 0u);
      const std::vector<float> once = values;
      nearest ? project_orders(values, orders) : finish_orders(values, orders);
      EXPECT_EQ(values, once);
    }
  }
}

TEST(Orders, NoOtherValuesThatHoldAreNearer) {
  Random random(2);
  for (int seed = 0; seed < 60; ++seed) {
    const auto count = static_cast<std::uint32_t>(2 + random.below(12));
    const std::vector<Order> orders = random_orders(count, 0.4, random);
    const std::vector<float> start = random_values(count, random);
    std::vector<float> variance;
    for (std::uint32_t i = 0; i < count; ++i)
      variance.push_back(static_cast<float>(0.1 + 4 * random.uniform()));
    std::vector<float> projected = start;
    project_orders(projected, orders, {.variance = variance.data()});
    for (int other = 0; other < 200; ++other) {
      std::vector<float> moved = projected;
      for (float& value : moved)
        value += static_cast<float>(std::pow(10, -3 * random.uniform()) * random.normal());
      finish_orders(moved, orders);
      EXPECT_LE(distance(projected, start, variance), distance(moved, start, variance) + 1e-4);
    }
  }
}

// Whether orders lead from each value to each other one.
std::vector<std::vector<bool>> closure(std::uint32_t count, const std::vector<Order>& orders) {
  std::vector<std::vector<bool>> leads(count, std::vector<bool>(count));
  for (const auto [low, high] : orders) leads[low][high] = true;
  for (std::uint32_t via = 0; via < count; ++via) {
    for (std::uint32_t low = 0; low < count; ++low) {
      for (std::uint32_t high = 0; high < count && leads[low][via]; ++high)
        if (leads[via][high]) leads[low][high] = true;
    }
  }
  return leads;
}

TEST(Orders, ReducedOnesImplyTheSameAndNoneIsRedundant) {
  Random random(4);
  for (int seed = 0; seed < 100; ++seed) {
    const auto count = static_cast<std::uint32_t>(1 + random.below(seed < 80 ? 30 : 90));
    const std::vector<Order> orders = random_orders(count, random.uniform(), random);
    const std::vector<Order> reduced = transitive_reduction(orders, count);
    const auto all = closure(count, orders);
    EXPECT_EQ(closure(count, reduced), all);
    EXPECT_TRUE(std::ranges::is_sorted(
        reduced, {}, [](const Order& order) { return std::pair(order.low, order.high); }));
    for (std::size_t left_out = 0; left_out < std::min<std::size_t>(reduced.size(), 40);
         ++left_out) {
      std::vector<Order> fewer = reduced;
      const auto at =
          fewer.begin() + static_cast<std::ptrdiff_t>(
                              reduced.size() < 40 ? left_out : random.below(reduced.size()));
      const Order own = *at;
      fewer.erase(at);
      EXPECT_FALSE(closure(count, fewer)[own.low][own.high]) << own.low << " <= " << own.high;
    }
  }
}

TEST(Orders, ReducedOnesOfAllPairsAreAChain) {
  Random random(5);
  std::vector<Order> chain;
  for (std::uint32_t i = 0; i + 1 < 200; ++i) chain.push_back({i, i + 1});
  EXPECT_EQ(transitive_reduction(random_orders(200, 2, random), 200), chain);
}

TEST(Orders, OfAChainAreTheChain) {
  Random random(3);
  std::vector<float> values = random_values(20, random), chain = values;
  std::vector<Order> orders;
  for (std::uint32_t i = 0; i + 1 < 20; ++i) orders.push_back({i, i + 1});
  project_orders(values, orders);
  project_chain(std::span(chain));
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], chain[i], 1e-3);
}

}  // namespace
}  // namespace espalier
