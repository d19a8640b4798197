// SPDX-License-Identifier: Apache-2.0
// The data of charts for numbers, quantiles, counts and amounts.
#pragma once

#include "espalier/json.h"
#include "page/scored_table.h"

namespace espalier {

/// Bins of rows by prediction, of equal size: the mean prediction (of each quantile), and the mean
/// and the 10, 25, 50, 75 and 90 % quantiles of the labels.
Json fan_json(const ScoredTable& all);

/// Residuals, label minus prediction: their quantiles, and a histogram between the 1 % and the 99 %
/// quantile whose outer bins include the rest.
Json residuals_json(const ScoredTable& all);

/// Quantiles: for each, the fraction of labels below it, with its interval.
Json coverage_json(const ScoredTable& all);

/// Counts and amounts, by increasing predicted rate: cumulative fractions of exposure, labels and
/// predictions.
Json lorenz_json(const ScoredTable& all);

}  // namespace espalier
