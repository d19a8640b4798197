// SPDX-License-Identifier: Apache-2.0
// With t = sqrt(n) tan(a), the probability of |T| < t is a finite sum (Abramowitz and Stegun,
// 26.7.3 and 26.7.4):
//
//   n even  sin a (1 + 1/2 cos^2 a + (1 3)/(2 4) cos^4 a + ... up to cos^(n - 2) a)
//   n odd   2/pi (a + sin a (cos a + 2/3 cos^3 a + (2 4)/(3 5) cos^5 a + ... up to cos^(n - 2) a))
//
// It rises with a, so bisection finds the angle of a quantile.
#include "search/student.h"

#include <cmath>
#include <numbers>

#include "core/math.h"

namespace espalier {

namespace {

double probability_within(double angle, int degrees) {
  const double cos = portable_cos(angle), sin = std::sqrt(1 - cos * cos);
  const bool is_even = degrees % 2 == 0;
  double term = is_even ? 1 : cos, sum = 0;
  for (int k = is_even ? 1 : 2; k < degrees; k += 2) {
    sum += term;
    term *= cos * cos * k / (k + 1);
  }
  return is_even ? sin * sum : 2 / std::numbers::pi * (angle + sin * sum);
}

}  // namespace

double student_quantile(double tail, int degrees) {
  double low = 0, high = std::numbers::pi / 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (probability_within(middle, degrees) < 1 - 2 * tail ? low : high) = middle;
  }
  const double cos = portable_cos(low);
  return std::sqrt(degrees * (1 - cos * cos)) / cos;
}

}  // namespace espalier
