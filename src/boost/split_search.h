// SPDX-License-Identifier: Apache-2.0
// The best split of a leaf on one column.
//
// A leaf of rows whose gradients sum to G and hessians to H has the value -G / (H + l2), which
// improves the loss by G^2 / (H + l2) / 2. A split is as good as its two leaves are better than the
// one that they replace.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "boost/bins.h"
#include "boost/gradient_sums.h"

namespace espalier {

struct LeafScore {
  double gradient_unit = 1;
  double hessian_unit = 1;
  double l2 = 0;

  double gradient(const GradientSums& sums) const {
    return static_cast<double>(sums.gradient) * gradient_unit;
  }
  double denominator(const GradientSums& sums) const {
    return static_cast<double>(sums.hessian) * hessian_unit + l2;
  }
  /// Twice the improvement.
  double gain(const GradientSums& sums) const {
    return gradient(sums) * gradient(sums) / denominator(sums);
  }
};

struct SplitChoice {
  double gain = 0;  // 0: no split improves the loss
  std::size_t column = 0;
  std::size_t cut = 0;  // so many bins of the order of the column go left
  bool missing_right = false;
  GradientSums left;  // of the rows that go left
};

/// The bins of a column, without that of missing values, in the order in which a split may cut
/// them: numbers by value, categories by the value that a leaf of their rows would have, shrunk to
/// that of the leaf.
struct BinOrder {
  std::size_t size;
  std::array<std::uint8_t, 256> bins;

  BinOrder(const ColumnBins& column, const GradientSums* histogram, const GradientSums& total,
           const LeafScore& score);
};

/// The best split of a leaf on a column with this histogram. total: of all rows of the leaf. Leaves
/// the field `column` to the caller. Splits of a monotone column whose right side would have the
/// lower value do not count.
SplitChoice best_split(const ColumnBins& column, const GradientSums* histogram,
                       const GradientSums& total, const LeafScore& score);

}  // namespace espalier
