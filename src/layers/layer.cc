// SPDX-License-Identifier: Apache-2.0
#include "layers/layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace espalier {

std::string describe(std::string_view unit, int index, std::string_view part,
                     const Culprit& culprit) {
  const auto& [i, j, low, high] = culprit;
  if (i == j) return fmt::format("{} {}: {} {}: wanted {} <= {}", unit, index, part, i, low, high);
  return fmt::format("{} {}: {} {} is {}, above {} {}, {}", unit, index, part, i, low, part, j,
                     high);
}

double mean_over(const std::vector<float>& shares, const float* values, std::size_t stride) {
  double sum = 0, total = 0;
  for (std::size_t c = 0; c < shares.size(); ++c) {
    sum += static_cast<double>(shares[c]) * values[c * stride];
    total += shares[c];
  }
  return sum / total;
}

double largest_of(std::span<const float> params) {
  double largest = 0;
  for (const float p : params) largest = std::max(largest, std::fabs(static_cast<double>(p)));
  return largest;
}

}  // namespace espalier
