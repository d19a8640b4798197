// SPDX-License-Identifier: Apache-2.0
// Metrics with intervals that hold 95 % of their bootstrap distribution.
//
// A resample draws as many rows with replacement as there are; then the interval lies between the
// 2.5 % and 97.5 % points of the metric over the resamples. Of more than `most_rows` rows a sample of
// m = most_rows stands for all n: the deviations from its own value are narrowed by sqrt(m / n) and
// laid around the value of all rows.
#pragma once

#include <cstddef>
#include <vector>

#include "core/random.h"
#include "core/thread_pool.h"
#include "page/judged_table.h"

namespace espalier {

struct Estimate {
  Metric metric = Metric::automatic;
  double value = 0;  // of all rows; NaN where it is not defined, as are then its ends
  double low = 0;
  double high = 0;
};

struct BootstrapPlan {
  int resamples = 200;
  std::size_t most_rows = 20'000;
};

/// Every metric of the label. The result does not depend on the pool.
std::vector<Estimate> estimate_metrics(const JudgedTable& all, const BootstrapPlan& plan,
                                       const Random& random, ThreadPool& pool);

/// The point below which a share of sorted numbers lies, between the two nearest ones.
double quantile_of(const std::vector<double>& sorted, double share);

/// A mean with its 95 % interval: Wilson's for zeros and ones, else 1.96 standard errors, from 0 on
/// if no number is negative. Weights
/// count as if they were repeats of (sum w)^2 / sum w^2 rows.
class Mean {
 public:
  void add(double value, double weight) {
    sum_ += weight * value;
    squares_ += weight * value * value;
    weight_ += weight;
    squared_weights_ += weight * weight;
    are_positive_ = are_positive_ && value >= 0;
    are_shares_ = are_shares_ && (value == 0 || value == 1);
  }
  double weight() const { return weight_; }
  double value() const { return sum_ / weight_; }
  Estimate estimate() const;

 private:
  double sum_ = 0;
  double squares_ = 0;
  double weight_ = 0;
  double squared_weights_ = 0;
  bool are_positive_ = true;
  bool are_shares_ = true;
};

}  // namespace espalier
