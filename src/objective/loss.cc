// SPDX-License-Identifier: Apache-2.0
#include "objective/loss.h"

#include <cmath>

#include "core/math.h"

namespace espalier {

// With d = e^-|s| <= 1 nothing overflows: log(1 + e^-s) = max(-s, 0) + log(1 + d).
LogLoss log_loss(double score, bool positive) noexcept {
  const double d = portable_exp(-std::abs(score));
  const double probability = score >= 0 ? 1 / (1 + d) : d / (1 + d);
  const double signed_score = positive ? score : -score;
  return {(signed_score < 0 ? -signed_score : 0) + portable_log(1 + d), probability};
}

LossValue row_loss(const Label& label, float z, double y) noexcept {
  if (label.task == Task::regression) {
    const double error = z - (y - label.offset) / label.scale;
    return {error * error, static_cast<float>(2 * error)};
  }
  const auto [loss, probability] = log_loss(label.offset + z, y > 0.5);
  return {loss, static_cast<float>(probability - y)};
}

void add_losses(const Label& label, const Dataset& data, std::span<const std::uint32_t> rows,
                const float* z, float* gradient, LossSum& sum) noexcept {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const LossValue value = row_loss(label, z[r], data.labels[rows[r]]);
    const float weight = data.weight(rows[r]);
    gradient[r] = weight * value.gradient;
    sum += {weight * value.loss, weight};
  }
}

double loss_in_label_units(const Label& label, double loss) noexcept {
  if (label.task == Task::classification) return loss;
  return loss * label.scale * label.scale;
}

}  // namespace espalier
