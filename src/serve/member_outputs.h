// SPDX-License-Identifier: Apache-2.0
// What one member of a model gives for the rows of a dataset, before it is averaged with others.
#pragma once

#include <cstddef>
#include <vector>

#include "core/thread_pool.h"
#include "model/model_data.h"

namespace espalier {

/// The outputs for the rows [begin, end) at all levels, [row][label.num_scores()].
std::vector<float> member_outputs(const ModelMember& member, const Schema& schema,
                                  const Dataset& data, std::size_t begin, std::size_t end,
                                  ThreadPool& pool);

}  // namespace espalier
