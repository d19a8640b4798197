// SPDX-License-Identifier: Apache-2.0
// The metrics of a label, and all of them at once. espalier/metrics.h has the formulas.
#pragma once

#include <vector>

#include "encode/dataset.h"
#include "espalier/metrics.h"
#include "espalier/schema.h"

namespace espalier {

/// The validation metric: `wanted`, or by default the one of the loss. Throws Error (argument) if
/// the label does not have the metric.
Metric settle_metric(Metric wanted, const Label& label);

/// One metric of a dataset, and every metric of its label. `scores` are [row][num_scores].
double evaluate(Metric metric, const Label& label, const Dataset& data,
                std::span<const float> scores);
std::vector<MetricValue> all_metrics(const Label& label, const Dataset& data,
                                     std::span<const float> scores);

}  // namespace espalier
