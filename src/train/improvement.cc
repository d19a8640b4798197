// SPDX-License-Identifier: Apache-2.0
#include "train/improvement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace espalier {

std::vector<double> losses_of(const Objective& objective, const Dataset& data,
                              const std::vector<float>& outputs) {
  const Label& label = objective.label();
  const std::size_t num_scores = label.num_scores();
  std::vector<float> slopes(label.num_outputs());
  std::vector<double> losses;
  for (std::uint64_t r = 0; r < data.num_rows; ++r) {
    LossSum sum;
    for (std::size_t turn = 0; turn < label.num_levels(); ++turn) {
      const std::size_t own = level_of(label, r, turn) * label.num_outputs();
      add_losses(objective, data, {&r, 1}, turn, outputs.data() + r * num_scores + own,
                 slopes.data(), 1, sum);
    }
    losses.push_back(sum.loss);
  }
  return losses;
}

double mean_of(const std::vector<double>& losses) {
  return std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
}

Improvement improvement_of(const std::vector<double>& from, const std::vector<double>& to) {
  double sum = 0, squares = 0;
  for (std::size_t r = 0; r < from.size(); ++r) {
    sum += from[r] - to[r];
    squares += (from[r] - to[r]) * (from[r] - to[r]);
  }
  const auto count = static_cast<double>(from.size());
  const double mean = sum / count;
  if (from.size() < 2) return {mean, std::numeric_limits<double>::infinity()};
  return {mean, std::sqrt(std::max(0.0, squares / count - mean * mean) / count)};
}

}  // namespace espalier
