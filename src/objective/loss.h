// SPDX-License-Identifier: Apache-2.0
// What training lowers, row by row, as a function of the network's output z:
//
//   classification  log(1 + e^-s) for a positive row, log(1 + e^s) for a negative one,
//                   s = offset + z
//   regression      (z - (y - offset) / scale)^2, the squared error in units of the label's
//                   deviation
#pragma once

#include <cstdint>
#include <span>

#include "data/dataset.h"
#include "espalier/schema.h"

namespace espalier {

/// The cross-entropy of a row whose score is the logit `score`, and the probability of that score.
struct LogLoss {
  double loss;
  double probability;
};
LogLoss log_loss(double score, bool positive) noexcept;

struct LossValue {
  double loss;
  float gradient;  // with respect to z
};
LossValue row_loss(const Label& label, float z, double y) noexcept;

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

/// Adds some rows of a dataset, whose outputs are z, to `sum`, and writes weight * gradient of
/// each.
void add_losses(const Label& label, const Dataset& data, std::span<const std::uint32_t> rows,
                const float* z, float* gradient, LossSum& sum) noexcept;

/// From the units of row_loss to those of the label.
double loss_in_label_units(const Label& label, double loss) noexcept;

}  // namespace espalier
