// SPDX-License-Identifier: Apache-2.0
// Doubles in lanes, as many as a register has, and the functions of core/math.h with their bits.
// Included once per instruction set by loss_kernels.cc, hence no include guard.

#if defined(ESPALIER_LANE_MATH_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ESPALIER_LANE_MATH_H_
#undef ESPALIER_LANE_MATH_H_
#else
#define ESPALIER_LANE_MATH_H_
#endif

#include <cstddef>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace espalier {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::CappedTag<double, 8> kDoubles;
constexpr hn::Rebind<float, decltype(kDoubles)> kHalfFloats;
constexpr hn::RebindToUnsigned<decltype(kDoubles)> kWords;
constexpr std::size_t kLanes = hn::MaxLanes(kDoubles);
using Lanes = hn::Vec<decltype(kDoubles)>;
using FloatLanes = hn::Vec<decltype(kHalfFloats)>;

// A sum of doubles of this size has no bits for a fraction, and its low bits are the nearest
// integer, ties to even.
constexpr double kRoundingShift = 0x1.8p52;

HWY_INLINE Lanes set(double x) { return hn::Set(kDoubles, x); }
HWY_INLINE Lanes load(const double* p) { return hn::LoadU(kDoubles, p); }
HWY_INLINE Lanes load(const float* p) { return hn::PromoteTo(kDoubles, hn::LoadU(kHalfFloats, p)); }

/// Rounds to floats; beyond their range to infinity, as a cast does.
HWY_INLINE FloatLanes to_floats(Lanes x) {
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
  double wide[kLanes];
  float narrow[kLanes];
  hn::StoreU(x, kDoubles, wide);
  for (std::size_t i = 0; i < kLanes; ++i) narrow[i] = static_cast<float>(wide[i]);
  return hn::LoadU(kHalfFloats, narrow);
#else
  return hn::DemoteTo(kHalfFloats, x);
#endif
}

/// c[0] + x c[1] + x^2 c[2] + ..., from the last term to the first.
template <std::size_t kTerms>
HWY_INLINE Lanes polynomial(Lanes x, const double (&c)[kTerms]) {
  Lanes sum = set(c[kTerms - 1]);
  for (std::size_t i = kTerms - 1; i > 0; --i) sum = hn::Add(hn::Mul(sum, x), set(c[i - 1]));
  return sum;
}

/// 2^whole, -1022 <= whole <= 1023.
HWY_INLINE Lanes power_of_two(Lanes whole) {
  const auto bits = hn::BitCast(kWords, hn::Add(whole, set(kRoundingShift + 1023)));
  return hn::BitCast(kDoubles, hn::ShiftLeft<52>(bits));
}

/// portable_exp. It may halve the exponent otherwise, but the first of the two products is exact
/// either way.
HWY_INLINE Lanes lane_exp(Lanes x) {
  constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42fefap-1, kLn2Low = 0x1.cf79abc9e3b3ap-40;
  constexpr double kSeries[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                                1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                                1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  constexpr double kMax = 710, kLeast = -746;
  const auto is_large = hn::Gt(x, set(kMax)), is_small = hn::Lt(x, set(kLeast));
  const Lanes inside =
      hn::IfThenElse(is_large, set(kMax), hn::IfThenElse(is_small, set(kLeast), x));
  const Lanes shift = set(kRoundingShift);
  const Lanes k = hn::Sub(hn::Add(hn::Mul(inside, set(kInverseLn2)), shift), shift);
  const Lanes high = hn::Sub(inside, hn::Mul(k, set(kLn2High)));
  const Lanes low = hn::Mul(k, set(kLn2Low));
  const Lanes r = hn::Sub(high, low);
  const Lanes lost_of_r = hn::Sub(hn::Sub(high, r), low);
  const Lanes one_plus_r = hn::Add(set(1), r);
  const Lanes lost_of_sum = hn::Add(hn::Sub(set(1), one_plus_r), r);
  const Lanes rest =
      hn::Add(hn::Mul(hn::Mul(r, r), polynomial(r, kSeries)), hn::Add(lost_of_sum, lost_of_r));
  const Lanes half = hn::Sub(hn::Add(hn::Mul(k, set(0.5)), shift), shift);
  const Lanes result = hn::Mul(hn::Mul(hn::Add(one_plus_r, rest), power_of_two(half)),
                               power_of_two(hn::Sub(k, half)));
  const Lanes bounded = hn::IfThenElse(is_large, set(std::numeric_limits<double>::infinity()),
                                       hn::IfThenElse(is_small, set(0), result));
  return hn::IfThenElse(hn::Eq(x, x), bounded, x);
}

/// portable_log of 1 <= x <= 2, or of NaN.
HWY_INLINE Lanes lane_log(Lanes x) {
  constexpr double kLn2High = 0x1.62e42fefap-1, kLn2Low = 0x1.cf79abc9e3b3ap-40;
  constexpr double kSeries[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;
  const auto is_above = hn::Ge(x, set(kSqrt2));
  const Lanes k = hn::IfThenElseZero(is_above, set(1));
  const Lanes f = hn::Sub(hn::IfThenElse(is_above, hn::Mul(x, set(0.5)), x), set(1));
  const Lanes s = hn::Div(f, hn::Add(set(2), f));
  const Lanes s2 = hn::Mul(s, s);
  const Lanes half_f2 = hn::Mul(hn::Mul(set(0.5), f), f);
  const Lanes series = hn::Mul(s, hn::Add(half_f2, hn::Mul(s2, polynomial(s2, kSeries))));
  const Lanes with_low = hn::Add(series, hn::Mul(k, set(kLn2Low)));
  return hn::Add(hn::Mul(k, set(kLn2High)), hn::Sub(f, hn::Sub(half_f2, with_low)));
}

}  // namespace HWY_NAMESPACE
}  // namespace espalier
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
