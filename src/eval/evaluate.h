// SPDX-License-Identifier: Apache-2.0
// All metrics of a model on encoded rows.
#pragma once

#include <vector>

#include "core/thread_pool.h"
#include "encode/dataset.h"
#include "espalier/metrics.h"

namespace espalier {

std::vector<MetricValue> evaluate(const Model& model, const Dataset& data, ThreadPool& pool);

}  // namespace espalier
