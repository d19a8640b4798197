// SPDX-License-Identifier: Apache-2.0
// The numbers of charts for classes and grades.
#pragma once

#include "espalier/json.h"
#include "page/scored_table.h"

namespace espalier {

/// Two classes. As the threshold falls: it, the share of rows that reach it, the shares of the
/// positive and of the negative rows that do, and the share of positive ones among them. ROC,
/// precision and lift are pictures of these lists.
Json sweep_json(const ScoredTable& all);

/// Two classes: for each, the share of its rows in equal bins of the prediction from 0 to 1.
Json class_histogram_json(const ScoredTable& all);

/// Weight by class [seen][predicted], as shares of all.
Json confusion_json(const ScoredTable& all);

/// A calibration for each class, or for reaching each grade but the lowest.
Json class_calibrations_json(const ScoredTable& all);

}  // namespace espalier
