// SPDX-License-Identifier: Apache-2.0
#include "explain/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/math.h"
#include "espalier/error.h"
#include "espalier/outputs.h"

namespace espalier {

float negative_log(float odds) noexcept { return static_cast<float>(-portable_log(odds)); }

double Target::value(std::span<const float> scores) const noexcept {
  constexpr double kFarthest = 80;  // the sum over 100 classes of e^80 is still a float
  if (!against_others) return scores[output];
  double odds = 0;  // of all others against this class
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const double ahead = static_cast<double>(scores[j]) - scores[output];
    if (j != output)
      odds += portable_exp(static_cast<float>(std::clamp(ahead, -kFarthest, kFarthest)));
  }
  return negative_log(static_cast<float>(odds));
}

std::vector<Target> all_targets(const Label& label) {
  std::vector<Target> targets;
  for (std::size_t s = 0; s < label.num_scores(); ++s)
    targets.push_back({s, label.has_many_classes()});
  return targets;
}

std::optional<Target> find_target(const Label& label, const std::string& name) {
  const std::vector<std::string> names = output_names(label);
  if (name.empty() && label.has_many_classes()) return std::nullopt;
  if (name.empty()) return Target{names.size() / 2, false};
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    throw Error(ErrorKind::argument,
                fmt::format("output: '{}' is not one of {}", name, fmt::join(names, ", ")));
  }
  return Target{static_cast<std::size_t>(found - names.begin()), label.has_many_classes()};
}

Target predicted_target(std::span<const float> scores) {
  const auto best = std::ranges::max_element(scores);
  return {static_cast<std::size_t>(best - scores.begin()), true};
}

}  // namespace espalier
