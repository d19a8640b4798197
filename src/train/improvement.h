// SPDX-License-Identifier: Apache-2.0
// Two networks compared on the same validation rows, row by row: what all rows share cancels, so
// that a small difference stands out of its noise.
#pragma once

#include <vector>

#include "encode/dataset.h"
#include "objective/loss.h"

namespace espalier {

/// The loss of each row times its weight, in the units of training, over all levels. outputs:
/// [row][num_scores].
std::vector<double> losses_of(const Objective& objective, const Dataset& data,
                              const std::vector<float>& outputs);

double mean_of(const std::vector<double>& losses);

/// How much lower some losses are than others of the same rows, in the mean.
struct Improvement {
  double mean = 0;
  double error = 0;  // its standard deviation; infinite for one row, which says nothing

  bool is_clear(double deviations) const { return mean > 0 && mean > deviations * error; }
};
Improvement improvement_of(const std::vector<double>& from, const std::vector<double>& to);

}  // namespace espalier
