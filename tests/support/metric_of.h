// SPDX-License-Identifier: Apache-2.0
// For tests: one metric of an evaluation, NaN without it.
#pragma once

#include <cmath>

#include "espalier/metrics.h"

namespace espalier {

inline double metric_of(const Evaluation& evaluation, Metric metric) {
  for (const MetricValue& own : evaluation.metrics) {
    if (own.metric == metric) return own.value;
  }
  return NAN;
}

}  // namespace espalier
