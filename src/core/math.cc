// SPDX-License-Identifier: Apache-2.0
// Each function reduces its argument to a short interval and sums a Taylor series whose first
// omitted term is below 2^-56 of the result.
#include "core/math.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace espalier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// ln 2 and pi / 2 in two parts; the first has few bits, so that its multiples are exact.
constexpr double kLn2High = 0x1.62e42fefap-1;
constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;
constexpr double kHalfPiHigh = 0x1.921fb544p+0;
constexpr double kHalfPiLow = 0x1.0b4611a626331p-34;

// The nearest integer, for |x| < 2^51: adding this constant shifts out the fraction.
double round_to_whole(double x) {
  constexpr double kShift = 0x1.8p52;
  return (x + kShift) - kShift;
}

double power_of_two(int exponent) {  // -1022 <= exponent <= 1023
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// c[0] + x c[1] + x^2 c[2] + ..., summed from the last term.
template <int N>
double polynomial(double x, const double (&c)[N]) {
  double sum = c[N - 1];
  for (int i = N - 2; i >= 0; --i) sum = sum * x + c[i];
  return sum;
}

double sin_near_zero(double r) {  // |r| <= pi / 4
  constexpr double kSeries[] = {
      -1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
      -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000};
  const double r2 = r * r;
  return r + r * (r2 * polynomial(r2, kSeries));
}

double cos_near_zero(double r) {  // |r| <= pi / 4
  constexpr double kSeries[] = {
      -1.0 / 2,       1.0 / 24,        -1.0 / 720,         1.0 / 40320,
      -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000};
  const double r2 = r * r;
  return 1.0 + r2 * polynomial(r2, kSeries);
}

}  // namespace

// x = k ln 2 + r, |r| <= ln 2 / 2, and exp(x) = 2^k (1 + r + r^2 (1/2 + r/6 + ...)). The rounding
// errors of r and 1 + r are added back, so that only the last sum rounds noticeably. Rounding one
// increasing function keeps the result monotonic.
double portable_exp(double x) noexcept {
  constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
  constexpr double kSeries[] = {1.0 / 2,       1.0 / 6,        1.0 / 24,        1.0 / 120,
                                1.0 / 720,     1.0 / 5040,     1.0 / 40320,     1.0 / 362880,
                                1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  if (x != x) return x;
  if (x > 710) return kInfinity;
  if (x < -746) return 0;
  const double k = round_to_whole(x * kInverseLn2);
  const double high = x - k * kLn2High;
  const double low = k * kLn2Low;
  const double r = high - low;
  const double lost_of_r = (high - r) - low;
  const double one_plus_r = 1.0 + r;
  const double lost_of_sum = (1.0 - one_plus_r) + r;
  const double rest = r * r * polynomial(r, kSeries) + (lost_of_sum + lost_of_r);
  // Two factors: 2^k alone may be out of range, and only the second product may round.
  const int whole = static_cast<int>(k);
  const int half = whole / 2;
  return (one_plus_r + rest) * power_of_two(half) * power_of_two(whole - half);
}

// x = 2^k (1 + f) with 1 + f in [sqrt 1/2, sqrt 2), s = f / (2 + f), and
// log(1 + f) = 2 atanh(s) = 2 s + s R, R = 2/3 s^2 + 2/5 s^4 + ... . Since 2 s = f - f^2/2 + s
// f^2/2, the sum below starts from f, which is exact.
double portable_log(double x) noexcept {
  constexpr double kSeries[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  if (x == 0) return -kInfinity;
  if (!(x > 0)) return NAN;
  if (x == kInfinity) return x;
  int k = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    k = -54;
  }
  // Counting from sqrt 1/2 leaves the fraction in [sqrt 1/2, sqrt 2).
  constexpr std::uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  const std::uint64_t above = std::bit_cast<std::uint64_t>(x) - kSqrtHalf;
  k += static_cast<int>(static_cast<std::int64_t>(above) >> 52);
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52) - 1;
  const double f = std::bit_cast<double>((above & kFraction) + kSqrtHalf) - 1.0;

  const double s = f / (2.0 + f);
  const double s2 = s * s;
  const double half_f2 = 0.5 * f * f;
  const double series = s * (half_f2 + s2 * polynomial(s2, kSeries));
  return k * kLn2High + (f - (half_f2 - (series + k * kLn2Low)));
}

// x = n pi / 2 + r, |r| <= pi / 4.
double portable_cos(double x) noexcept {
  constexpr double kInverseHalfPi = 0x1.45f306dc9c883p-1;
  if (!(std::fabs(x) <= 1e5)) return NAN;
  const double n = round_to_whole(x * kInverseHalfPi);
  const double r = (x - n * kHalfPiHigh) - n * kHalfPiLow;
  switch (static_cast<int>(n) & 3) {
    case 0:
      return cos_near_zero(r);
    case 1:
      return -sin_near_zero(r);
    case 2:
      return -cos_near_zero(r);
    default:
      return sin_near_zero(r);
  }
}

}  // namespace espalier
