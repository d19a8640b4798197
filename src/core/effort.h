// SPDX-License-Identifier: Apache-2.0
// How much a test tries. Sanitizers make everything ten times slower and look for other mistakes
// than wrong results, so under them a part of the cases is enough.
#pragma once

namespace espalier {

template <class Count>
constexpr Count effort([[maybe_unused]] Count plain, [[maybe_unused]] Count sanitized) {
#ifdef ESPALIER_SANITIZED
  return sanitized;
#else
  return plain;
#endif
}

}  // namespace espalier
