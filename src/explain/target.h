// SPDX-License-Identifier: Apache-2.0
// The number that is explained, made of the scores s of a row:
//
//   one score, quantiles, grades   s[output]
//   classes                        -log(the sum over the others j of e^(s[j] - s[output])), the
//                                  logarithm of the odds of the class against all others; within
//                                  +-80 for each of them
//
// The sum takes each difference as a float and is a float itself. No e^x of a float falls as x
// rises, and a test has seen the logarithm of every such sum. So the odds keep the promises of
// classes to the last bit, as probabilities do (objective/link.h).
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

/// -log(odds) as a float; odds in [e^-80, 100 e^80]. Never rises with them.
float negative_log(float odds) noexcept;

/// One for each output.
std::vector<Target> all_targets(const Label& label);

/// The one of that name; of an empty name the middle level, or nothing for classes, where it is
/// that of the row. Throws Error (argument) for an unknown name.
std::optional<Target> find_target(const Label& label, const std::string& name);

/// The most probable class of a row.
Target predicted_target(std::span<const float> scores);

}  // namespace espalier
