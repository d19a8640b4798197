// SPDX-License-Identifier: Apache-2.0
#include "train/loss.h"

#include <cmath>

#include "core/math.h"

namespace espalier {

LossValue row_loss(const Label& label, float z, float y) {
  if (label.task == Task::regression) {
    const double error = z - (static_cast<double>(y) - label.offset) / label.scale;
    return {error * error, static_cast<float>(2 * error)};
  }
  // With d = e^-|s| <= 1 nothing overflows: log(1 + e^-s) = max(-s, 0) + log(1 + d).
  const double s = static_cast<double>(label.offset) + z;
  const double d = portable_exp(-std::abs(s));
  const double probability = s >= 0 ? 1 / (1 + d) : d / (1 + d);
  const double signed_score = y > 0.5f ? s : -s;
  const double loss = (signed_score < 0 ? -signed_score : 0) + portable_log(1 + d);
  return {loss, static_cast<float>(probability - y)};
}

double loss_in_label_units(const Label& label, double loss) {
  if (label.task == Task::classification) return loss;
  return loss * label.scale * label.scale;
}

}  // namespace espalier
