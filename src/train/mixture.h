// SPDX-License-Identifier: Apache-2.0
// From fitted members to a model: the mixing weight of trees, and what validation rows and all rows
// say of the label's offsets.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/model_data.h"
#include "train/members.h"
#include "train/rotation.h"

namespace espalier {

/// The model of some members, and out-of-fold predictions where members hold out different rows.
struct Mixture {
  std::shared_ptr<ModelData> model;
  std::optional<OutOfFoldRows> valid_rows;
  SettledOptions options;  // with the trees and the mixing weight that were chosen
};

/// Mixes networks with forests, if the validation loss says that they are worth it. There is a
/// network or more.
Mixture mix(const Problem& problem, const std::optional<Rotation>& rotation, Members members,
            bool is_stopped, std::vector<Choice>& choices);

/// What validation rows say of a finished model.
struct Validated {
  std::vector<MetricValue> metrics;
  std::size_t rows = 0;
};

/// Shifts the offset of a label with a log link so that predictions and labels of all rows have the
/// same sum, and the quantiles so that they have their share of the validation rows. Returns
/// metrics that no row has helped to choose, quantiles cross-fitted.
Validated fit_offsets(const Problem& problem, Mixture& mixture, Team& team);

}  // namespace espalier
