// SPDX-License-Identifier: Apache-2.0
// How much a test tries. With ESPALIER_EFFORT=low in the environment it tries less: sanitizers and
// emulators make everything ten times slower and look for other mistakes than wrong results.
#pragma once

#include <cstdlib>
#include <string_view>

namespace espalier {

inline bool is_effort_low() {
  const char* const effort = std::getenv("ESPALIER_EFFORT");
  return effort != nullptr && std::string_view(effort) == "low";
}

template <class Count>
Count effort(Count full, Count low) {
  return is_effort_low() ? low : full;
}

}  // namespace espalier
