// SPDX-License-Identifier: Apache-2.0
// All metrics of a model on encoded rows.
#pragma once

#include <vector>

#include "core/thread_pool.h"
#include "data/dataset.h"
#include "espalier/metrics.h"

namespace espalier {

/// Every metric of the task.
std::vector<MetricValue> all_metrics(Task task, const std::vector<float>& labels,
                                     const std::vector<float>& scores,
                                     const std::vector<float>& weights);

std::vector<MetricValue> judge(const Model& model, const Dataset& data, ThreadPool& pool);

}  // namespace espalier
