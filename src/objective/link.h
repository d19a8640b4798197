// SPDX-License-Identifier: Apache-2.0
// From the output of a network to what a user reads:
//
//   score       float(offset + scale * output), summed in double and rounded once
//   prediction  link(score): classification: 1 / (1 + e^-score); regression: the score
//
// Each is one rounding of a function that never falls (the scale is positive), so both keep every
// direction to the last bit. Plain values, because the serving program carries them.
#pragma once

#include "espalier/schema.h"

namespace espalier {

struct ScoreUnits {
  double offset = 0;
  double scale = 1;
};
ScoreUnits units_of(const Label& label) noexcept;

/// `output` is that of a network, or the mean of several.
float score_of(const ScoreUnits& units, double output) noexcept;
float score_of(const Label& label, double output) noexcept;

/// sigmoid: 1 / (1 + e^-score) in double, rounded once.
enum class Link { identity, sigmoid };
Link link_of(const Label& label) noexcept;

float prediction_of(Link link, float score) noexcept;

/// 1 / (1 + e^-score): never falls when the score rises, the same bits on every machine.
float sigmoid(float score) noexcept;

}  // namespace espalier
