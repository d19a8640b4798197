// SPDX-License-Identifier: Apache-2.0
#include "constraints/orders.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace espalier {

namespace {

constexpr int kMaxRounds = 400;
constexpr double kTolerance = 1e-6;  // of the moves of a round, times the largest value

bool hold(std::span<const float> values, std::span<const Order> orders) {
  return check_orders(values, orders).violations == 0;
}

}  // namespace

// Orders lead from a value to a later one. An order is implied exactly if a kept order of the same
// low value, to an earlier high value, leads on to its high value.
std::vector<Order> transitive_reduction(std::span<const Order> orders, std::size_t count) {
  const std::size_t words = (count + 63) / 64;
  std::vector<std::uint64_t> reached(count * words);  // [value][bit of a later value]
  std::vector<Order> kept;
  std::size_t end = orders.size();
  while (end > 0) {
    const std::size_t low = orders[end - 1].low;
    std::size_t begin = end;
    while (begin > 0 && orders[begin - 1].low == low) --begin;
    std::uint64_t* const own = reached.data() + low * words;
    const std::size_t first = kept.size();
    for (const Order& order : orders.subspan(begin, end - begin)) {
      const std::uint64_t bit = std::uint64_t{1} << order.high % 64;
      if (own[order.high / 64] & bit) continue;
      kept.push_back(order);
      own[order.high / 64] |= bit;
      const std::uint64_t* const further = reached.data() + order.high * words;
      for (std::size_t w = 0; w < words; ++w) own[w] |= further[w];
    }
    std::reverse(kept.begin() + static_cast<std::ptrdiff_t>(first), kept.end());
    end = begin;
  }
  std::ranges::reverse(kept);
  return kept;
}

// Orders are sorted by `low`, so every value is final before it is passed on.
void finish_orders(std::span<float> values, std::span<const Order> orders) {
  if (hold(values, orders)) return;
  std::vector<float> most(values.begin(), values.end()), least = most;
  for (const auto [low, high] : orders) most[high] = std::max(most[high], most[low]);
  for (auto order = orders.rbegin(); order != orders.rend(); ++order)
    least[order->low] = std::min(least[order->low], least[order->high]);
  // least <= value <= most; halving first cannot overflow, and both halves round monotonically.
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = most[i] == least[i] ? most[i] : 0.5f * most[i] + 0.5f * least[i];
}

// Undoes the moves of an order in the round before, and then moves its two values again.
void project_orders(std::span<float> values, std::span<const Order> orders,
                    const ChainWeights& weights) {
  if (hold(values, orders)) return;
  std::vector<double> exact(values.begin(), values.end()), give;  // per unit of force
  double scale = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    give.push_back(1 / weights[i]);
    scale = std::max(scale, std::fabs(exact[i]));
  }
  std::vector<double> forces(orders.size());
  double farthest = INFINITY;
  for (int round = 0; round < kMaxRounds && farthest > kTolerance * scale; ++round) {
    farthest = 0;
    for (std::size_t k = 0; k < orders.size(); ++k) {
      const auto [low, high] = orders[k];
      const double apart =
          (exact[low] + forces[k] * give[low]) - (exact[high] - forces[k] * give[high]);
      const double force = std::max(0.0, apart / (give[low] + give[high]));
      const double moved = force - forces[k];
      exact[low] -= moved * give[low];
      exact[high] += moved * give[high];
      farthest = std::max(farthest, std::fabs(moved) * std::max(give[low], give[high]));
      forces[k] = force;
    }
  }
  std::ranges::transform(exact, values.begin(),
                         [](double value) { return static_cast<float>(value); });
  finish_orders(values, orders);
}

}  // namespace espalier
