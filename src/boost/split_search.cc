// SPDX-License-Identifier: Apache-2.0
#include "boost/split_search.h"

#include <algorithm>
#include <numeric>

namespace espalier {

namespace {

// Shrinks the values of rare categories to that of their leaf, in units of l2.
constexpr double kCategoryL2 = 3;

}  // namespace

BinOrder::BinOrder(const ColumnBins& column, const GradientSums* histogram,
                   const GradientSums& total, const LeafScore& score)
    : size(column.num_bins - column.first_value()) {
  if (!column.is_category) {
    std::iota(bins.begin(), bins.begin() + static_cast<std::ptrdiff_t>(size),
              static_cast<std::uint8_t>(column.first_value()));
    return;
  }
  struct Value {
    double value;
    std::uint8_t bin;
  };
  std::array<Value, 256> values;
  const double l2 = kCategoryL2 * score.l2;
  const double shrunk_to = l2 * score.gradient(total) / score.denominator(total);
  for (std::size_t b = 0; b < size; ++b) {
    const GradientSums& own = histogram[b];
    values[b] = {-(score.gradient(own) + shrunk_to) / (score.denominator(own) + l2),
                 static_cast<std::uint8_t>(b)};
  }
  std::sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size),
            [](const Value& a, const Value& b) {
              return a.value < b.value || (a.value == b.value && a.bin < b.bin);
            });
  for (std::size_t b = 0; b < size; ++b) bins[b] = values[b].bin;
}

// Most splits are ruled out without a division: with all denominators positive,
// g^2 / h + G^2 / H > gain + whole just if g^2 H + G^2 h > (gain + whole) h H, but for rounding, of
// which the margin is many times as much.
SplitChoice best_split(const ColumnBins& column, const GradientSums* histogram,
                       const GradientSums& total, const LeafScore& score) {
  constexpr double kMargin = 1 - 0x1p-40;
  const BinOrder order(column, histogram, total, score);
  const double whole = score.gain(total);
  SplitChoice best;
  for (const bool missing_right : {false, true}) {
    if (missing_right && !column.has_missing) break;
    GradientSums left = column.has_missing && !missing_right ? histogram[0] : GradientSums();
    for (std::size_t cut = 0; cut < order.size; left += histogram[order.bins[cut]], ++cut) {
      if (left.is_zero()) continue;
      const GradientSums right = total - left;
      const double g = score.gradient(left), h = score.denominator(left);
      const double other_g = score.gradient(right), other_h = score.denominator(right);
      const double squares = g * g * other_h + other_g * other_g * h;
      if (squares < kMargin * (best.gain + whole) * h * other_h) continue;
      if (column.monotone && g * other_h < other_g * h) continue;
      const double gain = g * g / h + other_g * other_g / other_h - whole;
      if (gain > best.gain)
        best = {.gain = gain, .cut = cut, .missing_right = missing_right, .left = left};
    }
  }
  return best;
}

}  // namespace espalier
