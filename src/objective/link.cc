// SPDX-License-Identifier: Apache-2.0
#include "objective/link.h"

#include "core/math.h"

namespace espalier {

ScoreUnits units_of(const Label& label) noexcept { return {label.offset, label.scale}; }

float score_of(const ScoreUnits& units, double output) noexcept {
  return static_cast<float>(units.offset + units.scale * output);
}

float score_of(const Label& label, double output) noexcept {
  return score_of(units_of(label), output);
}

Link link_of(const Label& label) noexcept {
  return label.task == Task::classification ? Link::sigmoid : Link::identity;
}

float prediction_of(Link link, float score) noexcept {
  switch (link) {
    case Link::identity:
      break;
    case Link::sigmoid:
      return sigmoid(score);
  }
  return score;
}

float sigmoid(float score) noexcept {
  return static_cast<float>(1 / (1 + portable_exp(-static_cast<double>(score))));
}

}  // namespace espalier
