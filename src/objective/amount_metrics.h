// SPDX-License-Identifier: Apache-2.0
// Metrics of counts and amounts, whose link is e^score. They compare rates, weighted by exposure.
#pragma once

#include "objective/scored_rows.h"

namespace espalier {

double deviance(const ScoredView& rows);

/// The fraction of the deviance of the mean rate that the model explains.
double d2(const ScoredView& rows);

/// 1 - 2 * the area under the Lorenz curve.
double gini(const ScoredView& rows);

/// The sum of predictions / the sum of labels.
double balance(const ScoredView& rows);

}  // namespace espalier
