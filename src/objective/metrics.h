// SPDX-License-Identifier: Apache-2.0
// Which metrics belong to a label, and all of them at once. The formulas are those of
// espalier/metrics.h.
#pragma once

#include <vector>

#include "encode/dataset.h"
#include "espalier/metrics.h"
#include "espalier/schema.h"

namespace espalier {

/// The metric that chooses the epoch: `wanted`, or the one that suits the label best. Throws Error
/// (argument) if `wanted` does not suit it.
Metric settle_metric(Metric wanted, const Label& label);

/// One metric of a dataset, and every metric of its label. `scores` are [row][num_scores].
double evaluate(Metric metric, const Label& label, const Dataset& data,
                std::span<const float> scores);
std::vector<MetricValue> all_metrics(const Label& label, const Dataset& data,
                                     std::span<const float> scores);

}  // namespace espalier
