// SPDX-License-Identifier: Apache-2.0
// Student's t distribution.
#pragma once

namespace espalier {

/// The t that is exceeded with probability `tail`, of 0 < tail < 1/2; degrees >= 1. With the same
/// bits on every machine.
double student_quantile(double tail, int degrees);

}  // namespace espalier
