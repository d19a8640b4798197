// SPDX-License-Identifier: Apache-2.0
// A model evaluated group by group: the rows that share a value of one column.
#pragma once

#include <string>

#include "core/random.h"
#include "core/thread_pool.h"
#include "espalier/json.h"
#include "page/scored_table.h"

namespace espalier {

/// Rows, the mean prediction beside the mean label, and all metrics with intervals, for each word
/// of the column: the most frequent ones, then all others together, then missing. A number with
/// more than a dozen values is cut into five groups of about as many rows. Throws Error (data) if
/// the table has no such column.
Json groups_json(const ScoredTable& all, const Table& table, const std::string& column,
                 const Random& random, ThreadPool& pool);

}  // namespace espalier
