// SPDX-License-Identifier: Apache-2.0
// Times of calls, as medians: the machines that benchmarks run on are noisy.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace espalier {

inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Seconds that `times` calls take.
template <class Call>
double seconds(int times, Call&& call) {
  const auto start = std::chrono::steady_clock::now();
  for (int t = 0; t < times; ++t) call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace espalier
