// SPDX-License-Identifier: Apache-2.0
// Metrics with 95 % intervals: Wilson's interval for rates (objective/interval.h), the bootstrap
// for others.
//
// A bootstrap sample draws as many rows as there are, with replacement. The interval is between the
// 2.5 % and 97.5 % quantiles of the metric over the samples. If there are n > `most_rows` rows,
// bootstrap samples come from a sample of m = most_rows rows. The deviations from its metric are
// scaled by sqrt(m / n) and centered on the metric of all rows.
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
  double value = 0;  // of all rows; NaN, with NaN ends, if undefined
  Interval interval = {};
};

struct BootstrapPlan {
  int resamples = 200;
  std::size_t most_rows = 20'000;
};

/// Every metric of the label. The result does not depend on the number of threads.
std::vector<Estimate> estimate_metrics(const ScoredTable& all, const BootstrapPlan& plan,
                                       const Random& random, ThreadPool& pool);

/// The quantile of sorted numbers, interpolated.
double quantile_of(const std::vector<double>& sorted, double share);

}  // namespace espalier
