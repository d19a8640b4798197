// SPDX-License-Identifier: Apache-2.0
// The units of a label, from its training rows: what a model without features would say.
#pragma once

#include <span>

#include "encode/dataset.h"
#include "espalier/schema.h"

namespace espalier {

/// Sets the offsets, the scale and the unit of the label. Throws Error (data) for labels that no
/// model can learn from: too close together, or all 0.
void fit_label(const Dataset& train, Label& label);

/// The factor that predictions of rows have to be multiplied with so that their sum is that of the
/// labels, and a shift of the offset that does it. Labels with a log link only.
class Balance {
 public:
  /// Adds rows of the model and their predictions.
  void add(const Dataset& data, std::span<const float> predictions);

  Balance& operator+=(const Balance& other) {
    labels_ += other.labels_;
    predictions_ += other.predictions_;
    return *this;
  }

  /// Throws nothing; a model that predicts 0 everywhere stays as it is.
  void apply(Label& label) const;

 private:
  double labels_ = 0;
  double predictions_ = 0;
};

}  // namespace espalier
