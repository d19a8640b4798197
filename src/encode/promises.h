// SPDX-License-Identifier: Apache-2.0
// Which predictions move how with which columns. Of most labels all of them do; of classes without
// an order the probability of a class does, and the promise is written "class:column".
#pragma once

#include <string>
#include <vector>

#include "espalier/schema.h"

namespace espalier {

/// What is promised of a score's prediction when a feature rises.
Monotonicity promise_of(const Schema& schema, std::size_t score, const Feature& feature);

/// All that is promised to rise or fall, in the order of the features: "income", "prime:income".
std::vector<std::string> promises_of(const Schema& schema, Monotonicity direction);

/// Why no model can keep these promises of classes beside each other, or an empty string.
std::string contradiction(const std::vector<std::string>& classes,
                          const std::vector<Monotonicity>& promises);

}  // namespace espalier
