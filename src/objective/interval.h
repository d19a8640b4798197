// SPDX-License-Identifier: Apache-2.0
// 95 % confidence intervals of rates and means. The interval of a rate is Wilson's score interval,
//
//   (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n),  z = 1.96,
//
// which has a positive width even if no row or every row is a hit. The interval of a mean of
// numbers is 1.96 standard errors. With weights, n is the effective number of rows, (sum w)^2 / sum
// w^2.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>

namespace espalier {

/// Fewer rows have no interval.
inline constexpr std::size_t kFewestRowsOfInterval = 20;

/// Both ends are NaN if there is no interval.
struct Interval {
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

/// The rows of a number. Rows with weight 0 do not count.
class RowCount {
 public:
  void add(double weight) {
    rows_ += weight > 0 ? 1 : 0;
    weight_ += weight;
    squared_weights_ += weight * weight;
  }
  double weight() const { return weight_; }
  double effective() const { return weight_ * weight_ / squared_weights_; }
  bool has_interval() const { return rows_ >= kFewestRowsOfInterval; }

 private:
  std::size_t rows_ = 0;
  double weight_ = 0;
  double squared_weights_ = 0;
};

/// Wilson's interval of the fraction of rows that are hits.
Interval rate_interval(double rate, const RowCount& rows);

/// Whether each value is 0 (a miss) or 1 (a hit).
enum class MeanOf { rates, numbers };

/// A weighted mean.
class Mean {
 public:
  void add(double value, double weight) {
    rows_.add(weight);
    if (!(weight > 0)) return;
    sum_ += weight * value;
    squares_ += weight * value * value;
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }
  double weight() const { return rows_.weight(); }
  double value() const { return sum_ / rows_.weight(); }

  /// For numbers 1.96 standard errors, at least 0 if no value is negative. None if all values are
  /// equal, which tells nothing about their spread.
  Interval interval(MeanOf what) const;

 private:
  RowCount rows_;
  double sum_ = 0;
  double squares_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
};

}  // namespace espalier
