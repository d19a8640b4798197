// SPDX-License-Identifier: Apache-2.0
#include "objective/link.h"

#include "core/math.h"

namespace espalier {

float score_of(const Label& label, double output) noexcept {
  return static_cast<float>(label.offset + label.scale * output);
}

float prediction_of(const Label& label, float score) noexcept {
  return label.task == Task::classification ? sigmoid(score) : score;
}

float sigmoid(float score) noexcept {
  return static_cast<float>(1 / (1 + portable_exp(-static_cast<double>(score))));
}

}  // namespace espalier
