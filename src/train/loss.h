// SPDX-License-Identifier: Apache-2.0
// What training lowers, row by row, as a function of the network's output z:
//
//   classification  log(1 + e^-s) for a positive row, log(1 + e^s) for a negative one, s = offset +
//   z regression      (z - (y - offset) / scale)^2, the squared error in units of the label's
//   deviation
#pragma once

#include "espalier/schema.h"

namespace espalier {

struct LossValue {
  double loss;
  float gradient;  // with respect to z
};

LossValue row_loss(const Label& label, float z, float y);

/// From the units of row_loss to those of the label.
double loss_in_label_units(const Label& label, double loss);

}  // namespace espalier
