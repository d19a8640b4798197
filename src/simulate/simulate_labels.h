// SPDX-License-Identifier: Apache-2.0
// The labels of synthetic loans, drawn from the log-odds of the true risk of each row.
#pragma once

#include <span>
#include <vector>

#include "core/random.h"
#include "espalier/simulate.h"
#include "espalier/table.h"

namespace espalier {

/// The probability of a default.
double default_risk(double logit);

struct DrawnLabels {
  std::vector<Column> columns;
  Column truth;  // the true parameter of the labels
};

/// Draws row by row, so that a longer table begins with the rows of a shorter one.
DrawnLabels draw_labels(SimulatedKind kind, std::span<const double> logits, Random& random);

}  // namespace espalier
