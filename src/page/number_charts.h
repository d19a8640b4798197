// SPDX-License-Identifier: Apache-2.0
// The numbers of charts for numbers, quantiles, counts and amounts.
#pragma once

#include "espalier/json.h"
#include "page/scored_table.h"

namespace espalier {

/// Rows by their prediction in bins of the same number: the mean prediction (of quantiles that of
/// each), and the mean and the 10, 25, 50, 75 and 90 % points of the labels.
Json fan_json(const ScoredTable& all);

/// Label minus prediction: its quantiles, and the shares of rows in equal bins between the 1 % and
/// the 99 % point, which take what lies beyond.
Json residuals_json(const ScoredTable& all);

/// Quantiles: of each the share of labels up to it, with its interval.
Json coverage_json(const ScoredTable& all);

/// Counts and amounts, by rising predicted rate: shares of the exposure, of the labels and of the
/// predictions.
Json lorenz_json(const ScoredTable& all);

}  // namespace espalier
