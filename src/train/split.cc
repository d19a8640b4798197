// SPDX-License-Identifier: Apache-2.0
#include "train/split.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace espalier {

Split hold_out(const Rows& order, std::size_t first, std::size_t count) {
  const std::size_t size = order.size();
  Split split;
  for (std::size_t i = 0; i < size; ++i)
    (i < count ? split.valid : split.train).push_back(order[(first + i) % size]);
  std::ranges::sort(split.train);
  std::ranges::sort(split.valid);
  return split;
}

namespace {

Split hold_out_by_place(const Rows& rows, double fraction, const Random& random) {
  constexpr double kMaxValidRows = 1 << 20;
  const double share = std::min(fraction, kMaxValidRows / static_cast<double>(rows.size()));
  Split split;
  split.train.reserve(rows.size());
  for (std::size_t place = 0; place < rows.size(); ++place)
    (random.split(place).uniform() < share ? split.valid : split.train).push_back(rows[place]);
  return split;
}

}  // namespace

Split hold_out_share(Rows rows, double fraction, Random random, std::size_t many_rows) {
  if (rows.size() >= many_rows) return hold_out_by_place(rows, fraction, random);
  const auto count = std::lround(fraction * static_cast<double>(rows.size()));
  random.shuffle(std::span(rows));
  return hold_out(rows, 0, static_cast<std::size_t>(count));
}

std::vector<Split> deal_folds(const Rows& rows, const std::vector<double>& labels,
                              std::size_t count, Random random) {
  // Places in `rows`, those of the same label together.
  Rows dealt = rows_between(0, rows.size());
  random.shuffle(std::span(dealt));
  std::ranges::stable_sort(dealt, {}, [&](std::uint64_t place) { return labels[place]; });
  Rows order;  // fold by fold
  std::vector<std::size_t> begins;
  for (std::size_t fold = 0; fold < count; ++fold) {
    begins.push_back(order.size());
    for (std::size_t i = fold; i < dealt.size(); i += count) order.push_back(rows[dealt[i]]);
  }
  begins.push_back(order.size());
  std::vector<Split> folds;
  for (std::size_t fold = 0; fold < count; ++fold)
    folds.push_back(hold_out(order, begins[fold], begins[fold + 1] - begins[fold]));
  return folds;
}

}  // namespace espalier
