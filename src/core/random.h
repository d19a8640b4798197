// SPDX-License-Identifier: Apache-2.0
// Random numbers with the same bits everywhere: xoshiro256++ (Blackman and Vigna, 2019), seeded by
// splitmix64. The distributions of the standard library differ between vendors.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "core/math.h"

namespace espalier {

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) word = mix(seed += kGolden);
  }

  std::uint64_t bits() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  // Normal with mean 0 and variance 1, by the Box-Muller transform.
  double normal() {
    constexpr double kTwoPi = 0x1.921fb54442d18p+2;
    const double radius = std::sqrt(-2.0 * portable_log(1.0 - uniform()));
    return radius * portable_cos(kTwoPi * uniform());
  }

  // Uniform in [0, n), n > 0, by rejection sampling of numbers with the bits of n - 1.
  std::uint64_t below(std::uint64_t n) {
    if (n <= 1) return 0;
    const int shift = std::countl_zero(n - 1);
    std::uint64_t value;
    do {
      value = bits() >> shift;
    } while (value >= n);
    return value;
  }

  template <class T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

  // An independent generator for each `stream`; this generator does not change.
  Random split(std::uint64_t stream) const {
    std::uint64_t seed = mix(stream + kGolden);
    for (const std::uint64_t word : state_) seed = mix(seed ^ word);
    return Random(seed);
  }

 private:
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

  // The finalizer of splitmix64.
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::array<std::uint64_t, 4> state_;
};

}  // namespace espalier
