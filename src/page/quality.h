// SPDX-License-Identifier: Apache-2.0
// The quality of a model as data of charts. It contains no row of the table.
#pragma once

#include "core/random.h"
#include "core/thread_pool.h"
#include "espalier/json.h"
#include "page/bootstrap.h"
#include "page/scored_table.h"

namespace espalier {

/// The metrics with intervals, and the charts of this kind of label.
Json quality_json(const ScoredTable& all, const Random& random, ThreadPool& pool);

/// {"name", "value", "low", "high"} of each metric.
Json json_of(const std::vector<Estimate>& estimates);

/// Bins of rows sorted by prediction, at most `most`, of about equal weight: lists of the mean
/// prediction, the mean label with its interval, and the fraction of the weight.
Json calibration_json(std::vector<Comparison> rows, std::size_t most, MeanOf what);

}  // namespace espalier
