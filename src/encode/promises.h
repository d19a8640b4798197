// SPDX-License-Identifier: Apache-2.0
// Which predictions are monotonic in which features. For multiclass models these are class
// probabilities, written "class:column"; for other labels, all predictions.
#pragma once

#include <string>
#include <vector>

#include "espalier/schema.h"

namespace espalier {

/// The direction of a score's prediction as the feature increases.
Monotonicity promise_of(const Schema& schema, std::size_t score, const Feature& feature);

/// All guarantees of a direction, in the order of the features: "income", "prime:income".
std::vector<std::string> promises_of(const Schema& schema, Monotonicity direction);

/// Why no model can satisfy these directions of classes at the same time, or an empty string.
std::string contradiction(const std::vector<std::string>& classes,
                          const std::vector<Monotonicity>& promises);

}  // namespace espalier
