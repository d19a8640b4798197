// SPDX-License-Identifier: Apache-2.0
#include "explain/row_explainer.h"

#include <algorithm>
#include <bit>

#include "explain/game_options.h"
#include "serve/compiled.h"

namespace espalier {

namespace {

constexpr std::size_t kBatch = 512;           // mixtures that are scored together
constexpr std::size_t kOrderedScores = 8192;  // the approximate number in memory at a time

// The offset is the last value of a row.
std::size_t offset_cell(const Predictor& predictor) {
  return predictor.model().schema().beside.contains(Role::offset) ? predictor.num_cells() - 1 : 0;
}

// Adds the contributions of players in pairs of orders whose mixtures have these values.
void add_gains(std::span<const std::vector<std::size_t>> orders, const std::vector<char>& plays,
               const std::vector<double>& values, OrderedShares& sums) {
  const double* value = values.data();
  for (std::size_t o = 0; o < orders.size(); ++o, ++value) {
    for (const std::size_t f : orders[o]) {
      if (plays[f] == 0) continue;
      sums.add(f, value[1] - value[0]);
      ++value;
    }
    if (o % 2 == 1) sums.end_pair();
  }
}

}  // namespace

GamePlan make_plan(std::size_t num_features, int exact_columns, int permutations,
                   int open_permutations, std::uint64_t seed) {
  GamePlan plan{.exact_columns = static_cast<std::size_t>(exact_columns),
                .orders_are_open = permutations == 0};
  if (num_features > plan.exact_columns) {
    const int count = plan.orders_are_open ? open_permutations : permutations;
    const auto pairs = static_cast<std::size_t>((count + 1) / 2);
    plan.orders = antithetic_orders(num_features, pairs, seed);
  }
  return plan;
}

std::size_t GamePlan::num_orders(std::size_t players) const {
  constexpr std::size_t kLeastPairs = 2;  // for a standard error
  return orders_are_open ? 2 * samples_per_column(orders.size() / 2, players, kLeastPairs)
                         : orders.size();
}

RowExplainer::RowExplainer(const Predictor& predictor, std::span<const float> baseline,
                           const GamePlan& plan)
    : interpreter_(predictor.compiled().interpreter),
      num_features_(predictor.model().schema().features.size()),
      offset_cell_(offset_cell(predictor)),
      plan_(plan),
      mixture_(predictor.model().schema(), baseline),
      cells_(kBatch * interpreter_.num_encoded()),
      offsets_(kBatch),
      scores_(kBatch * interpreter_.num_scores()),
      scratch_(interpreter_.scratch_size()) {}

void RowExplainer::set_row(std::span<const float> row) {
  mixture_.set_row(row);
  if (offset_cell_ > 0) std::ranges::fill(offsets_, row[offset_cell_]);
  targets_ = {};
  add();
  for (const std::size_t f : mixture_.differing()) mixture_.flip(f);
  add();
  flush();
  const auto middle = scores_.begin() + static_cast<std::ptrdiff_t>(interpreter_.num_scores());
  baseline_scores_.assign(scores_.begin(), middle);
  row_scores_.assign(middle, middle + (middle - scores_.begin()));
}

void RowExplainer::share(std::span<const Target> targets, std::span<double> shares,
                         std::span<double> errors) {
  targets_ = targets;
  values_.resize(targets.size());
  for (std::vector<double>& values : values_) values.clear();
  std::ranges::fill(shares, 0.0);
  std::ranges::fill(errors, 0.0);
  mixture_.reset();
  if (mixture_.differing().size() <= plan_.exact_columns) {
    share_exactly(shares);
  } else {
    share_by_orders(shares, errors);
  }
}

void RowExplainer::add() {
  std::ranges::copy(mixture_.cells(), cells_.begin() + static_cast<std::ptrdiff_t>(
                                                           waiting_ * interpreter_.num_encoded()));
  if (++waiting_ == kBatch) flush();
}

void RowExplainer::flush() {
  const std::size_t width = interpreter_.num_scores();
  interpreter_.run_encoded(cells_.data(), nullptr, offset_cell_ > 0 ? offsets_.data() : nullptr,
                           waiting_, Output::score, scratch_.data(), scores_.data());
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    for (std::size_t m = 0; m < waiting_; ++m)
      values_[t].push_back(targets_[t].value({scores_.data() + m * width, width}));
  }
  waiting_ = 0;
}

// Coalitions in the order of the Gray code m ^ (m >> 1), so that neighbors differ in one player.
void RowExplainer::share_exactly(std::span<double> shares) {
  const std::vector<std::size_t>& players = mixture_.differing();
  const std::size_t count = std::size_t{1} << players.size();
  add();
  for (std::size_t m = 1; m < count; ++m) {
    mixture_.flip(players[static_cast<std::size_t>(std::countr_zero(m))]);
    add();
  }
  flush();
  by_coalition_.resize(count);
  std::vector<double> own(players.size());
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    for (std::size_t m = 0; m < count; ++m) by_coalition_[m ^ (m >> 1)] = values_[t][m];
    exact_shares(by_coalition_, own);
    for (std::size_t i = 0; i < players.size(); ++i)
      shares[t * num_features_ + players[i]] = own[i];
  }
}

// Features with the value of the baseline contribute nothing and are skipped. Some orders are
// scored together and accumulated before the next ones.
void RowExplainer::share_by_orders(std::span<double> shares, std::span<double> errors) {
  const std::vector<std::size_t>& players = mixture_.differing();
  std::vector<char> plays(num_features_);
  for (const std::size_t f : players) plays[f] = 1;
  std::vector<OrderedShares> sums(targets_.size(), OrderedShares(num_features_));
  const std::size_t at_once = 2 * (kOrderedScores / (2 * players.size() + 2) + 1);
  const std::size_t num_orders = plan_.num_orders(players.size());
  for (std::size_t first = 0; first < num_orders; first += at_once) {
    const std::size_t count = std::min(at_once, num_orders - first);
    const auto orders = std::span(plan_.orders).subspan(first, count);
    add_orders(orders, plays);
    for (std::size_t t = 0; t < targets_.size(); ++t) {
      add_gains(orders, plays, values_[t], sums[t]);
      values_[t].clear();
    }
  }
  for (std::size_t t = 0; t < targets_.size(); ++t) {
    for (const std::size_t f : players) {
      shares[t * num_features_ + f] = sums[t].share(f);
      errors[t * num_features_ + f] = sums[t].standard_error(f);
    }
  }
}

// Scores the baseline, then the mixture after each player, order by order.
void RowExplainer::add_orders(std::span<const std::vector<std::size_t>> orders,
                              const std::vector<char>& plays) {
  for (const std::vector<std::size_t>& order : orders) {
    mixture_.reset();
    add();
    for (const std::size_t f : order) {
      if (plays[f] == 0) continue;
      mixture_.flip(f);
      add();
    }
  }
  flush();
}

}  // namespace espalier
