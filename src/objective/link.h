// SPDX-License-Identifier: Apache-2.0
// From the output of a network to what a user reads:
//
//   score       float(offset + scale * output), summed in double and rounded once
//   prediction  classification: 1 / (1 + e^-score); regression: the score
//
// Each is one rounding of a function that never falls (the scale is positive), so both keep every
// direction to the last bit.
#pragma once

#include "espalier/schema.h"

namespace espalier {

/// `output` is that of a network, or the mean of several.
float score_of(const Label& label, double output) noexcept;

float prediction_of(const Label& label, float score) noexcept;

/// 1 / (1 + e^-score): never falls when the score rises, the same bits on every machine.
float sigmoid(float score) noexcept;

}  // namespace espalier
