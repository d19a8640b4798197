// SPDX-License-Identifier: Apache-2.0
// Interactions of features: the mean prediction over a grid of two features.
#pragma once

#include <vector>

#include "core/thread_pool.h"
#include "espalier/json.h"
#include "page/columns.h"

namespace espalier {

/// The strongest pairs among the features `candidates` and the pairs of the model. The strength is
/// the deviation of the mean score over the grid from the nearest sum of one curve per feature;
/// pairs without interaction are left out.
Json pair_maps_json(const Predictor& predictor, const SampledRows& sample,
                    const std::vector<std::size_t>& candidates, ThreadPool& pool);

}  // namespace espalier
