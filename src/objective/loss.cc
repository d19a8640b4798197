// SPDX-License-Identifier: Apache-2.0
#include "objective/loss.h"

#include <algorithm>
#include <cmath>

#include "core/math.h"
#include "objective/link.h"

namespace espalier {

namespace {

// A loss, its gradient and its hessian with respect to the score.
struct LossTerms {
  double loss;
  double gradient;
  double hessian;
};

LossTerms pinball(double q, double y, double s) noexcept {
  return {pinball_loss(q, y, s), y > s ? -q : y < s ? 1 - q : 0, 0};
}

LossTerms power_loss(double p, double exposure, double y, double s) noexcept {
  const double expected = exposure * portable_exp((2 - p) * s);
  const double seen = p == 1 ? y : y * portable_exp((1 - p) * s);
  const double loss =
      (p == 2 ? exposure * s : expected / (2 - p)) - (p == 1 ? y * s : seen / (1 - p));
  return {loss, expected - seen, (2 - p) * expected + (p - 1) * seen};
}

LossTerms loss_of(const Label& label, double s, const LossRow& row) noexcept {
  switch (label.loss) {
    case Loss::log_loss: {
      const bool positive = row.y > static_cast<double>(row.level);
      const auto [loss, probability] = log_loss(s, positive);
      return {loss, probability - (positive ? 1 : 0), probability * (1 - probability)};
    }
    case Loss::squared_error:
      return {(row.y - s) * (row.y - s), 2 * (s - row.y), 2};
    case Loss::absolute_error: {
      const LossTerms half = pinball(0.5, row.y, s);
      return {2 * half.loss, 2 * half.gradient, 0};
    }
    case Loss::quantile:
      return pinball(label.quantiles[row.level], row.y, s);
    case Loss::poisson:
    case Loss::gamma:
    case Loss::tweedie:
      return power_loss(label.power, row.exposure, row.y / label.unit, s);
    case Loss::automatic:
      break;
  }
  return {0, 0, 0};
}

// The softmax loss of a row whose scores are offsets[c] +- z[c * stride]; gradients are with
// respect to z.
double softmax_loss(const Objective& objective, std::size_t y, float weight, const float* z,
                    float* gradient, std::size_t stride) noexcept {
  const Label& label = objective.label();
  const auto score = [&](std::size_t c) {
    return label.offsets[c] + objective.turn(c) * z[c * stride];
  };
  double largest = score(0);
  for (std::size_t c = 1; c < label.classes.size(); ++c) largest = std::max(largest, score(c));
  double sum = 0;
  for (std::size_t c = 0; c < label.classes.size(); ++c) sum += portable_exp(score(c) - largest);
  for (std::size_t c = 0; c < label.classes.size(); ++c) {
    const double p = portable_exp(score(c) - largest) / sum;
    gradient[c * stride] = weight * objective.turn(c) * static_cast<float>(p - (c == y ? 1 : 0));
  }
  return largest + portable_log(sum) - score(y);
}

}  // namespace

// d = e^-|s| <= 1 cannot overflow: log(1 + e^-s) = max(-s, 0) + log(1 + d).
LogLoss log_loss(double score, bool positive) noexcept {
  const double d = portable_exp(-std::abs(score));
  const double probability = score >= 0 ? 1 / (1 + d) : d / (1 + d);
  const double signed_score = positive ? score : -score;
  return {(signed_score < 0 ? -signed_score : 0) + portable_log(1 + d), probability};
}

double pinball_loss(double q, double y, double s) noexcept {
  return y > s ? q * (y - s) : (1 - q) * (s - y);
}

// The second derivative of a log-linked loss is (2-p) E e^((2-p)s) - (1-p) y e^((1-p)s). The offset
// makes the sums of both terms equal, so the weighted mean is that of the first term.
Objective::Objective(const Label& label, const Dataset& train) : label_(&label) {
  for (std::size_t s = 0; s < label.num_outputs(); ++s)
    turns_.push_back(label.score_direction(s) < 0 ? -1.0f : 1.0f);
  if (label.loss == Loss::squared_error) scale_ = 1 / (label.scale * label.scale);
  if (label.loss == Loss::absolute_error || label.loss == Loss::quantile) scale_ = 1 / label.scale;
  if (!label.has_log_link()) return;
  double total = 0, hessian = 0;
  for (std::size_t i = 0; i < train.num_rows; ++i) {
    const double s = label.offsets[0] + train.offset(i);
    total += train.weight(i);
    hessian += train.weight(i) * train.exposure(i) * portable_exp((2 - label.power) * s);
  }
  scale_ = total / hessian;
}

double Objective::loss_in_label_units(double loss) const noexcept { return loss / scale_; }

LossValue row_loss(const Objective& objective, float z, const LossRow& row) noexcept {
  const Label& label = objective.label();
  if (label.loss == Loss::squared_error) {
    const double error = z - (row.y - label.offsets[0] - row.offset) / label.scale;
    return {error * error, static_cast<float>(2 * error), 2};
  }
  const double s = label.offsets[row.level] + label.scale * z + row.offset;
  const LossTerms slope = loss_of(label, s, row);
  const double units = objective.scale();
  return {units * slope.loss, static_cast<float>(units * slope.gradient * label.scale),
          static_cast<float>(units * slope.hessian * label.scale * label.scale)};
}

double least_loss(const Objective& objective, const LossRow& row) noexcept {
  const Label& label = objective.label();
  if (!label.has_log_link() || row.y == 0) return 0;
  const double score = portable_log(row.y / label.unit / row.exposure);
  return objective.scale() * loss_of(label, score, row).loss;
}

bool has_hessian(const Label& label) noexcept {
  return label.loss != Loss::absolute_error && label.loss != Loss::quantile;
}

LossRow loss_row(const Dataset& data, std::uint64_t row, std::size_t level) noexcept {
  return {data.labels[row], data.exposure(row), data.offset(row), level};
}

void add_losses(const Objective& objective, const Dataset& data,
                std::span<const std::uint64_t> rows, std::size_t turn, const float* z,
                float* gradient, std::size_t stride, LossSum& sum) noexcept {
  const Label& label = objective.label();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const float weight = data.weight(rows[r]);
    if (label.has_many_classes()) {
      const auto y = static_cast<std::size_t>(data.labels[rows[r]]);
      sum += {weight * softmax_loss(objective, y, weight, z + r, gradient + r, stride), weight};
      continue;
    }
    const LossRow row = loss_row(data, rows[r], level_of(label, rows[r], turn));
    const LossValue value = row_loss(objective, z[r], row);
    gradient[r] = weight * value.gradient;
    sum += {weight * value.loss, weight};
  }
}

}  // namespace espalier
