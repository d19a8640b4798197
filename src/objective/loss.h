// SPDX-License-Identifier: Apache-2.0
// The losses that training minimizes, per row, as functions of the score s = offset + scale * z +
// o. z is the output of the network, and o the offset of the row, if there is an offset column:
//
//   log_loss        log(1 + e^-s) for a positive row, log(1 + e^s) for a negative one. Grades at
//                   level t: positive means a grade above t. More classes: -log softmax(s)[y],
//                   where s = offset - z for a class whose score decreases in z
//   squared_error   (y - s)^2
//   quantile q      q (y - s) if y > s, else (1 - q) (s - y)
//   absolute_error  twice the loss of the quantile 0.5
//   poisson, gamma, tweedie
//                   E e^((2-p)s) / (2-p) - y e^((1-p)s) / (1-p) with y in units of label.unit, the
//                   exposure E and the power p. The limit for poisson, p = 1: E e^s - y s; for
//                   gamma, p = 2: s + y e^-s
//
// Errors are in units of the scale, and log-linked losses in units of their hessian, so that the
// learning rate, Adam's epsilon and the penalties mean the same for every label.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "encode/dataset.h"
#include "espalier/schema.h"

namespace espalier {

/// The log loss of a row whose score is the log-odds `score`, and the probability of that score.
struct LogLoss {
  double loss;
  double probability;
};
LogLoss log_loss(double score, bool positive) noexcept;

/// q (y - s) or (1 - q) (s - y).
double pinball_loss(double q, double y, double s) noexcept;

/// A fitted label, which must outlive the object, and the hessian of its loss at the model without
/// features.
class Objective {
 public:
  Objective(const Label& label, const Dataset& train);

  const Label& label() const { return *label_; }

  /// Converts a loss from units of training to units of the label.
  double loss_in_label_units(double loss) const noexcept;

  /// The factor of a row's loss, 1 / its units.
  double scale() const { return scale_; }

  /// Multiclass: -1 if the score decreases in the output of the network, else 1.
  float turn(std::size_t score) const { return turns_[score]; }

 private:
  const Label* label_;
  double scale_ = 1;
  std::vector<float> turns_;
};

/// One row: the label, the side columns, and the level of the network.
struct LossRow {
  double y;
  double exposure = 1;
  double offset = 0;
  std::size_t level = 0;
};

struct LossValue {
  double loss;
  float gradient;  // with respect to z
  float hessian;   // the second derivative; 0 for losses with corners
};
/// The loss of a row. For a label with one output.
LossValue row_loss(const Objective& objective, float z, const LossRow& row) noexcept;

/// The loss of the best score for a row, which is 0 unless the link is exponential. The loss minus
/// this is half the deviance.
double least_loss(const Objective& objective, const LossRow& row) noexcept;

/// Whether the loss of a label has a positive second derivative, for Newton steps.
bool has_hessian(const Label& label) noexcept;

/// A row of a dataset at a level.
LossRow loss_row(const Dataset& data, std::uint64_t row, std::size_t level = 0) noexcept;

/// Sums over rows: weight * loss, and weight.
struct LossSum {
  double loss = 0;
  double weight = 0;

  LossSum& operator+=(const LossSum& other) noexcept {
    loss += other.loss;
    weight += other.weight;
    return *this;
  }
};

/// The level of a row in a turn. Over num_levels() turns, each row has each level once.
inline std::size_t level_of(const Label& label, std::uint64_t row, std::size_t turn) noexcept {
  return (row + turn) % label.num_levels();
}

/// Adds the losses of rows of a dataset, each at its level of this turn, to `sum`, and writes
/// weight * gradient of each row. z and gradient are [num_outputs][stride].
void add_losses(const Objective& objective, const Dataset& data,
                std::span<const std::uint64_t> rows, std::size_t turn, const float* z,
                float* gradient, std::size_t stride, LossSum& sum) noexcept;

}  // namespace espalier
