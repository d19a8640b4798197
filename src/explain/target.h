// SPDX-License-Identifier: Apache-2.0
// The number to explain, a function of the scores s of a row:
//
//   one score, quantiles, grades   s[output]
//   classes                        -log(sum over the others j of e^(s[j] - s[output])), log-odds
//                                  of the class against all others, differences within +-80
//
// Differences and the sum are rounded to floats. Tests check that e^x is increasing over all
// floats, and the logarithm over every such sum. So the log-odds keep the constraints of classes to
// the last bit, as probabilities do (objective/link.h).
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

/// -log(odds) as a float, for odds in [e^-80, 100 e^80]. Decreasing in the odds.
float negative_log(float odds) noexcept;

/// One target per output.
std::vector<Target> all_targets(const Label& label);

/// The target of this name. For an empty name: the middle level, or nothing for classes, where each
/// row has its own. Throws Error (argument) for an unknown name.
std::optional<Target> find_target(const Label& label, const std::string& name);

/// The most probable class of a row.
Target predicted_target(std::span<const float> scores);

}  // namespace espalier
