// SPDX-License-Identifier: Apache-2.0
// Converts outputs of a network to scores and predictions:
//
//   score       float(offset + scale * output + o), summed in double, clipped to the range of
//               floats and rounded once; o is usable_offset of the row's offset, or 0
//   prediction  identity:          the score
//               sigmoid:           1 / (1 + e^-score)
//               exponential:       float(e^score) * unit * usable_exposure, each product at
//                                  most the largest float; the exposure is 1 without a column
//               softmax:           e^score / sum of e^score over all classes
//               promised_softmax:  1 / (1 + sum over the other classes of e^(other score - score)),
//                                  the same number, for classes with constraints
//
// All but softmax are roundings of monotonic functions (scale and unit are positive, the exposure
// is not negative), so they keep every direction to the last bit. Plain values, because the serving
// program contains them.
#pragma once

#include <span>

#include "espalier/schema.h"

namespace espalier {

struct ScoreUnits {
  double offset = 0;
  double scale = 1;
};
ScoreUnits units_of(const Label& label, std::size_t score) noexcept;

/// `output` is the output of a network, or the mean of several.
float score_of(const ScoreUnits& units, double output, double row_offset) noexcept;
float score_of(const Label& label, std::size_t score, double output, double row_offset) noexcept;

enum class Link { identity, sigmoid, exponential, softmax, promised_softmax };
Link link_of(const Label& label) noexcept;

/// The exposure that predictions use, for every float: NaN means 1; negative means 0; infinity
/// means the largest float. Increasing in the exposure.
float usable_exposure(float exposure) noexcept;

/// The same for an offset: NaN means 0; infinities mean the largest float and its negative.
float usable_offset(float offset) noexcept;

/// Converts the scores of a row to predictions. `unit` and `exposure` are for `exponential`.
void apply_link(Link link, float unit, float exposure, std::span<float> scores) noexcept;

/// 1 / (1 + e^-score): increasing, with the same bits on every machine.
float sigmoid(float score) noexcept;

/// e^score, at most the largest float: increasing, with the same bits on every machine.
float exponential(float score) noexcept;

}  // namespace espalier
