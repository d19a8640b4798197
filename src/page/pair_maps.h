// SPDX-License-Identifier: Apache-2.0
// Pairs of columns that matter together: the mean prediction over a grid of both.
#pragma once

#include <vector>

#include "core/thread_pool.h"
#include "espalier/json.h"
#include "page/columns.h"

namespace espalier {

/// The strongest pairs among the columns `candidates` and the pairs that the model has. The
/// strength is the deviation of the mean score over the grid from the nearest sum of a curve for
/// each column; pairs without any are left out.
Json pair_maps_json(const Predictor& predictor, const SampledRows& sample,
                    const std::vector<std::size_t>& candidates, ThreadPool& pool);

}  // namespace espalier
