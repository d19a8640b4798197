// SPDX-License-Identifier: Apache-2.0
#include "objective/interval.h"

#include <cmath>

namespace espalier {

namespace {

constexpr double kNormal = 1.959963984540054;  // the 97.5 % quantile of the normal distribution

}  // namespace

Interval rate_interval(double rate, const RowCount& rows) {
  if (!rows.has_interval()) return {};
  const double n = rows.effective(), z = kNormal;
  const double center = (rate + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(rate * (1 - rate) / n + z * z / (4 * n * n));
  // At rates 0 and 1 an end of the interval is exactly that number, up to rounding.
  return {std::clamp(center - half, 0.0, rate), std::clamp(center + half, rate, 1.0)};
}

Interval Mean::interval(MeanOf what) const {
  if (what == MeanOf::rates) return rate_interval(value(), rows_);
  if (!rows_.has_interval() || !(least_ < most_)) return {};
  const double mean = value(), n = rows_.effective();
  if (!(n > 1)) return {};  // one row has nearly all the weight
  const double variance = std::max(0.0, squares_ / rows_.weight() - mean * mean);
  const double half = kNormal * std::sqrt(variance / (n - 1));
  return {least_ >= 0 ? std::max(0.0, mean - half) : mean - half, mean + half};
}

}  // namespace espalier
