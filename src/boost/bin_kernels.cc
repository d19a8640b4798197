// SPDX-License-Identifier: Apache-2.0
#include "boost/bin_kernels.h"

#include <algorithm>
#include <limits>

#include "layers/instruction_sets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "boost/bin_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// How many of 16 floats are below a value.
HWY_INLINE std::size_t below_of_16(const float* sorted, float value) {
  constexpr hn::CappedTag<float, 16> kFloats;
  std::size_t count = 0;
  for (std::size_t i = 0; i < 16; i += hn::Lanes(kFloats))
    count += hn::CountTrue(kFloats, hn::Lt(hn::Load(kFloats, sorted + i), hn::Set(kFloats, value)));
  return count;
}

void count_below(const float* ends, const float* last, const float* values, std::size_t count,
                 std::uint8_t* counts) {
  for (std::size_t r = 0; r < count; ++r) {
    const std::size_t block = 16 * below_of_16(last, values[r]);
    counts[r] = static_cast<std::uint8_t>(block + below_of_16(ends + block, values[r]));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace espalier {

HWY_EXPORT(count_below);

BinEnds::BinEnds(std::span<const float> ends) {
  std::ranges::fill(ends_, std::numeric_limits<float>::infinity());
  std::ranges::copy(ends, ends_.begin());
  for (std::size_t block = 0; block < kBlock; ++block)
    last_[block] = ends_[kBlock * block + kBlock - 1];
}

void BinEnds::count_below(std::span<const float> values, std::uint8_t* counts) const noexcept {
  HWY_DYNAMIC_DISPATCH(count_below)
  (ends_.data(), last_.data(), values.data(), values.size(), counts);
}

}  // namespace espalier
#endif  // HWY_ONCE
