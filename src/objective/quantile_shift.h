// SPDX-License-Identifier: Apache-2.0
// Calibrates quantiles on validation rows, because an interval fitted to training rows is too
// narrow for new rows.
#pragma once

#include <span>
#include <vector>

#include "encode/dataset.h"
#include "espalier/schema.h"

namespace espalier {

/// Shifts the offset of each quantile so that the label of a new row is below the quantile with the
/// probability of the level. If the order of the offsets prevents it, neighboring levels get a
/// common shift. `scores` are those of the rows, [row][label.num_scores()]. The offsets must be in
/// order. With fewer than 1 / q - 1 rows, a level q can only reach the outermost residual.
void shift_quantiles(const Dataset& valid_rows, std::span<const float> scores, Label& label);

/// The scores of each tenth of the rows with offsets that the other nine tenths determine. Metrics
/// of these scores are unbiased; metrics of the rows that determine the offsets are too good.
/// `label` is not shifted yet.
std::vector<float> cross_fitted_scores(const Dataset& valid_rows, std::span<const float> scores,
                                       const Label& label);

}  // namespace espalier
