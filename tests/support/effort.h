// SPDX-License-Identifier: Apache-2.0
// How much a test tries. Sanitizers and emulators make everything ten times slower and look for
// other mistakes than wrong results, so under them a part of the cases is enough.
#pragma once

namespace espalier {

template <class Count>
constexpr Count effort([[maybe_unused]] Count plain, [[maybe_unused]] Count slow) {
#if defined(ESPALIER_SANITIZED) || defined(ESPALIER_EMULATED)
  return slow;
#else
  return plain;
#endif
}

}  // namespace espalier
