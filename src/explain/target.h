// SPDX-License-Identifier: Apache-2.0
// The number that is explained, made of the scores s of a row:
//
//   one score, quantiles, grades   s[output]
//   classes                        s[output] - log(the sum over the others j of e^s[j]), the
//                                  logarithm of the odds of the class against all others
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "espalier/schema.h"

namespace espalier {

struct Target {
  std::size_t output = 0;
  bool against_others = false;

  double value(std::span<const float> scores) const noexcept;
};

/// One for each output.
std::vector<Target> all_targets(const Label& label);

/// The one of that name; of an empty name the middle level, or nothing for classes, where it is
/// that of the row. Throws Error (argument) for an unknown name.
std::optional<Target> find_target(const Label& label, const std::string& name);

/// The most probable class of a row.
Target predicted_target(std::span<const float> scores);

}  // namespace espalier
