// SPDX-License-Identifier: Apache-2.0
// For tests: the bits of floats, so that -0 and 0 differ and NaN equals itself.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace espalier {

inline std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

}  // namespace espalier
