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

SplitChoice best_split(const ColumnBins& column, const GradientSums* histogram,
                       const GradientSums& total, const LeafScore& score) {
  const BinOrder order(column, histogram, total, score);
  const double whole = score.gain(total);
  SplitChoice best;
  for (const bool missing_right : {false, true}) {
    if (missing_right && !column.has_missing) break;
    GradientSums left = column.has_missing && !missing_right ? histogram[0] : GradientSums();
    bool is_new = true;  // an empty bin more on the left is the same split
    for (std::size_t cut = 0; cut < order.size; ++cut) {
      if (is_new && !left.is_zero()) {
        const GradientSums right = total - left;
        const double left_gradient = score.gradient(left), right_gradient = score.gradient(right);
        const double left_room = score.denominator(left), right_room = score.denominator(right);
        const bool falls =
            column.monotone && left_gradient * right_room < right_gradient * left_room;
        const double gain = left_gradient * left_gradient / left_room +
                            right_gradient * right_gradient / right_room - whole;
        if (gain > best.gain && !falls)
          best = {.gain = gain, .cut = cut, .missing_right = missing_right, .left = left};
      }
      const GradientSums& next = histogram[order.bins[cut]];
      is_new = !next.is_zero();
      left += next;
    }
  }
  return best;
}

}  // namespace espalier
