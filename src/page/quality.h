// SPDX-License-Identifier: Apache-2.0
// How good a model is, as the numbers of charts: no row of the table is in them.
#pragma once

#include "core/random.h"
#include "core/thread_pool.h"
#include "espalier/json.h"
#include "page/bootstrap.h"
#include "page/scored_table.h"

namespace espalier {

/// The metrics with intervals, and the charts of the kind of label.
Json quality_json(const ScoredTable& all, const Random& random, ThreadPool& pool);

/// {"name", "value", "low", "high"} of each.
Json json_of(const std::vector<Estimate>& estimates);

/// Rows in the order of their predictions, cut into at most `most` bins of about the same weight:
/// lists of the mean prediction, the mean label with its interval, and the share of the weight.
Json calibration_json(std::vector<Comparison> rows, std::size_t most, MeanOf what);

}  // namespace espalier
