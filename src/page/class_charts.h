// SPDX-License-Identifier: Apache-2.0
// The data of charts for classes and grades.
#pragma once

#include "espalier/json.h"
#include "page/scored_table.h"

namespace espalier {

/// Two classes: for decreasing thresholds, the threshold, the fraction of rows above it, the true
/// and false positive rates, and the precision. The ROC, precision and lift charts show these
/// lists.
Json sweep_json(const ScoredTable& all);

/// Two classes: for each, a histogram of the prediction from 0 to 1, as fractions of its rows.
Json class_histogram_json(const ScoredTable& all);

/// Weight by class [actual][predicted], as fractions of the total.
Json confusion_json(const ScoredTable& all);

/// Calibration of each class, or of reaching each grade but the lowest.
Json class_calibrations_json(const ScoredTable& all);

}  // namespace espalier
