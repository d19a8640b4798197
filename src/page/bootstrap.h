// SPDX-License-Identifier: Apache-2.0
// Metrics with 95 % intervals: Wilson's for rates (objective/interval.h), of others the 95 % of
// their bootstrap distribution.
//
// A resample draws as many rows with replacement as there are; then the interval lies between the
// 2.5 % and 97.5 % points of the metric over the resamples. Of more than `most_rows` rows a sample
// of m = most_rows stands for all n: the deviations from its own value are narrowed by sqrt(m / n)
// and laid around the value of all rows.
#pragma once

#include <cstddef>
#include <vector>

#include "core/random.h"
#include "core/thread_pool.h"
#include "objective/interval.h"
#include "page/scored_table.h"

namespace espalier {

struct Estimate {
  Metric metric = Metric::automatic;
  double value = 0;  // of all rows; NaN where it is not defined, as are then its ends
  Interval interval = {};
};

struct BootstrapPlan {
  int resamples = 200;
  std::size_t most_rows = 20'000;
};

/// Every metric of the label. The result does not depend on the pool.
std::vector<Estimate> estimate_metrics(const ScoredTable& all, const BootstrapPlan& plan,
                                       const Random& random, ThreadPool& pool);

/// The point below which a share of sorted numbers lies, between the two nearest ones.
double quantile_of(const std::vector<double>& sorted, double share);

}  // namespace espalier
