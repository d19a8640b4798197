// SPDX-License-Identifier: Apache-2.0
// From the output of a network to what a user reads:
//
//   score       float(offset + scale * output + o), summed in double, clipped to the range of
//   floats
//               and rounded once; o is the row's own offset, 0 without such a column, else
//               usable_offset
//   prediction  identity:     the score
//               sigmoid:      1 / (1 + e^-score)
//               exponential:  float(e^score) * unit, then * usable_exposure, 1 without such a
//               column;
//                             each at most the largest float
//               softmax:      e^score / the sum of e^score over all classes
//               promised_softmax:  1 / (1 + the sum over the other classes of e^(their score -
//               own)),
//                             the same number, for classes with directions
//
// All but softmax are roundings of functions that never fall (scale and unit are positive, the
// exposure is not negative; scores of classes may fall), so they keep every direction to the last
// bit. Plain values, because the serving program carries them.
#pragma once

#include <span>

#include "espalier/schema.h"

namespace espalier {

struct ScoreUnits {
  double offset = 0;
  double scale = 1;
};
ScoreUnits units_of(const Label& label, std::size_t score) noexcept;

/// `output` is that of a network, or the mean of several.
float score_of(const ScoreUnits& units, double output, double row_offset) noexcept;
float score_of(const Label& label, std::size_t score, double output, double row_offset) noexcept;

enum class Link { identity, sigmoid, exponential, softmax, promised_softmax };
Link link_of(const Label& label) noexcept;

/// What predictions count a row's exposure as, for every float: NaN as 1, as a row without
/// exposure; below 0 as 0; infinity as the largest float. It never falls when the exposure rises.
float usable_exposure(float exposure) noexcept;

/// The same of an offset: NaN as 0; the infinities as the largest float and its negative.
float usable_offset(float offset) noexcept;

/// From the scores of a row to its predictions; `unit` and any `exposure` are for `exponential`.
void apply_link(Link link, float unit, float exposure, std::span<float> scores) noexcept;

/// 1 / (1 + e^-score): never falls when the score rises, the same bits on every machine.
float sigmoid(float score) noexcept;

/// The same of e^score, at most the largest float.
float exponential(float score) noexcept;

}  // namespace espalier
