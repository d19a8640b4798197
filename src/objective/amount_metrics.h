// SPDX-License-Identifier: Apache-2.0
// Metrics of counts and amounts, whose link is e^score: rates are judged, weighted by exposure.
#pragma once

#include "objective/judged_rows.h"

namespace espalier {

double deviance(const Judged& rows);

/// The share of the deviance of the mean rate that the model explains.
double d2(const Judged& rows);

/// 1 - 2 * the area below the Lorenz curve.
double gini(const Judged& rows);

/// The sum of predictions / the sum of labels.
double balance(const Judged& rows);

}  // namespace espalier
