// SPDX-License-Identifier: Apache-2.0
// Floats as integers in the same order, counted from zero: neighboring floats have neighboring
// ranks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>

namespace espalier {

inline constexpr std::int64_t kInfinityRank = 0x7f800000;

inline std::int64_t rank_of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto magnitude = static_cast<std::int64_t>(bits & 0x7fffffffu);
  return bits >> 31 != 0 ? -magnitude : magnitude;
}

inline float of_rank(std::int64_t rank) {
  rank = std::clamp(rank, -kInfinityRank, kInfinityRank);
  const auto magnitude = static_cast<std::uint32_t>(std::abs(rank));
  return std::bit_cast<float>(rank < 0 ? magnitude | 0x80000000u : magnitude);
}

}  // namespace espalier
