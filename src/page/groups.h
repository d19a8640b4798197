// SPDX-License-Identifier: Apache-2.0
// Evaluates a model by groups: rows with the same value of a column.
#pragma once

#include <string>

#include "core/random.h"
#include "core/thread_pool.h"
#include "espalier/json.h"
#include "page/scored_table.h"

namespace espalier {

/// For each group: number of rows, mean prediction, mean label, and all metrics with intervals.
/// Groups are the most frequent categories, then all others together, then missing values. A number
/// with more than a dozen values is cut into five groups of about equal size. Throws Error (data)
/// if the table does not have the column.
Json groups_json(const ScoredTable& all, const Table& table, const std::string& column,
                 const Random& random, ThreadPool& pool);

}  // namespace espalier
