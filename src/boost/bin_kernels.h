// SPDX-License-Identifier: Apache-2.0
// The search for the bins of many values, compiled for AVX-512, AVX2 and plain scalar code and
// chosen at run time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace espalier {

/// Where the bins of a column end, in ascending order, for searches.
class BinEnds {
 public:
  /// At most 255 numbers.
  explicit BinEnds(std::span<const float> ends);

  /// counts[r] = how many ends are below values[r]: none for NaN.
  void count_below(std::span<const float> values, std::uint8_t* counts) const noexcept;

 private:
  // Infinity stands behind the last end, so that every value is found in two steps: in which block
  // it lies, and where in the block.
  static constexpr std::size_t kBlock = 16;
  alignas(64) std::array<float, kBlock * kBlock> ends_;
  alignas(64) std::array<float, kBlock> last_;  // of each block
};

}  // namespace espalier
