// SPDX-License-Identifier: Apache-2.0
// The labels of synthetic loans: what is drawn when the logit of the true risk of each row is
// known.
#pragma once

#include <span>
#include <vector>

#include "core/random.h"
#include "espalier/simulate.h"
#include "espalier/table.h"

namespace espalier {

struct DrawnLabels {
  std::vector<Column> columns;
  Column truth;  // what they were drawn with
};

/// Row by row, so that more rows begin as fewer do.
DrawnLabels draw_labels(SimulatedKind kind, std::span<const double> logits, Random& random);

}  // namespace espalier
