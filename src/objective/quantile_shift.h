// SPDX-License-Identifier: Apache-2.0
// Quantiles of rows that training has not seen: an interval that was fitted to the training rows is
// too narrow for others, so the offsets are set by validation ones.
#pragma once

#include <span>
#include <vector>

#include "encode/dataset.h"
#include "espalier/schema.h"

namespace espalier {

/// Shifts the offset of each quantile so that a new row has its label below the quantile with the
/// probability of the level, unless the order of the offsets forbids it: then neighboring levels
/// share a shift. `scores` are those of the rows, [row][label.num_scores()]. The offsets must be in
/// order. Fewer rows than 1 / q - 1 cannot reach a level q: the outermost residual is all there is.
void shift_quantiles(const Dataset& valid_rows, std::span<const float> scores, Label& label);

/// The scores of the rows with the offsets that the other nine tenths of the rows set: metrics of
/// these are those of new rows, where the rows that set offsets flatter them. `label` is not
/// shifted yet.
std::vector<float> cross_fitted_scores(const Dataset& valid_rows, std::span<const float> scores,
                                       const Label& label);

}  // namespace espalier
