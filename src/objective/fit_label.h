// SPDX-License-Identifier: Apache-2.0
// Fits the offsets and units of a label to the training rows: the scores of a model without
// features.
#pragma once

#include <span>

#include "encode/dataset.h"
#include "espalier/schema.h"

namespace espalier {

/// Sets the offsets, scale and unit of the label. Throws Error (data) for labels that no model can
/// learn: too close together, or all 0.
void fit_label(const Dataset& train, Label& label);

/// The factor that makes the sum of predictions equal to the sum of labels, as a shift of the
/// offset. For labels with a log link only.
class Balance {
 public:
  /// Adds rows and their predictions.
  void add(const Dataset& data, std::span<const float> predictions);

  Balance& operator+=(const Balance& other) {
    labels_ += other.labels_;
    predictions_ += other.predictions_;
    return *this;
  }

  /// Does nothing if the model predicts 0 everywhere.
  void apply(Label& label) const;

 private:
  double labels_ = 0;
  double predictions_ = 0;
};

}  // namespace espalier
