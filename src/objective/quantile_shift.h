// SPDX-License-Identifier: Apache-2.0
// Quantiles of rows that training has not seen: an interval that was fitted to the training rows is
// too narrow for others, so the offsets are set by held-out ones.
#pragma once

#include <span>

#include "data/dataset.h"
#include "espalier/schema.h"

namespace espalier {

/// Shifts the offset of each quantile so that the pinball loss of held-out rows is the least that
/// offsets in their order can give: a quantile then has its share of these labels below it, unless
/// the order forbids it. `scores` are those of the rows, [row][label.num_scores()]. The offsets must
/// be in order.
void shift_quantiles(const Dataset& held_out, std::span<const float> scores, Label& label);

}  // namespace espalier
