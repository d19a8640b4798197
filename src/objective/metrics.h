// SPDX-License-Identifier: Apache-2.0
// Which metrics belong to a label, and all of them at once. The formulas are those of
// espalier/metrics.h.
#pragma once

#include <span>
#include <vector>

#include "espalier/metrics.h"
#include "espalier/schema.h"

namespace espalier {

/// The metric that chooses the epoch: `wanted`, or the one that suits the task best. Throws Error
/// (argument) if `wanted` does not suit it.
Metric settle_metric(Metric wanted, Task task);

/// Every metric of the task.
std::vector<MetricValue> all_metrics(Task task, std::span<const double> labels,
                                     std::span<const float> scores, std::span<const float> weights);

}  // namespace espalier
