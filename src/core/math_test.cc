// SPDX-License-Identifier: Apache-2.0
#include "core/math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/random.h"

namespace espalier {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// How many units in the last place of the wanted double lie between found and wanted.
double error_in_ulps(double found, long double wanted) {
  const double rounded = static_cast<double>(wanted);
  const double ulp = std::nextafter(std::fabs(rounded), kInfinity) - std::fabs(rounded);
  return static_cast<double>(std::fabs(found - wanted) / ulp);
}

TEST(PortableExp, IsWithinOneUlpOfTheTruth) {
  Random random(1);
  double worst = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const double scale = i % 2 == 0 ? 708.0 : 2.0;
    const double x = (2 * random.uniform() - 1) * scale;
    worst = std::max(worst, error_in_ulps(portable_exp(x), std::exp(static_cast<long double>(x))));
  }
  EXPECT_LT(worst, 0.75);
}

TEST(PortableExp, IsWithinOneUlpWhereTheResultIsSubnormal) {
  for (double x = -745.1; x < -708; x += 0.001) {
    ASSERT_LE(error_in_ulps(portable_exp(x), std::exp(static_cast<long double>(x))), 1.0) << x;
  }
}

TEST(PortableExp, HandlesTheEdges) {
  EXPECT_EQ(portable_exp(0.0), 1.0);
  EXPECT_EQ(portable_exp(-0.0), 1.0);
  EXPECT_EQ(portable_exp(1e-300), 1.0);
  EXPECT_EQ(portable_exp(kInfinity), kInfinity);
  EXPECT_EQ(portable_exp(-kInfinity), 0.0);
  EXPECT_EQ(portable_exp(1e308), kInfinity);
  EXPECT_EQ(portable_exp(-1e308), 0.0);
  EXPECT_TRUE(std::isfinite(portable_exp(709.782)));
  EXPECT_EQ(portable_exp(709.783), kInfinity);
  EXPECT_GT(portable_exp(-745.13), 0.0);
  EXPECT_EQ(portable_exp(-745.14), 0.0);
  EXPECT_TRUE(std::isnan(portable_exp(NAN)));
}

// Walks `steps` neighbouring doubles upwards from x.
void expect_rises_from(double x, int steps) {
  double before = portable_exp(x);
  for (int i = 0; i < steps; ++i) {
    x = std::nextafter(x, kInfinity);
    const double after = portable_exp(x);
    ASSERT_LE(before, after) << "at " << x;
    before = after;
  }
}

TEST(PortableExp, NeverFallsBetweenNeighbouringDoubles) {
  Random random(2);
  for (int i = 0; i < 20'000; ++i) {
    expect_rises_from((2 * random.uniform() - 1) * 700, 20);
    expect_rises_from((2 * random.uniform() - 1), 20);
    const double tiny = portable_exp(-40 * random.uniform());
    expect_rises_from(tiny, 20);
    expect_rises_from(-tiny, 20);
  }
}

TEST(PortableExp, NeverFallsWhereTheReductionSwitches) {
  for (int k = -1075; k < 1024; ++k) {
    double x = (k + 0.5) * std::log(2.0);
    for (int i = 0; i < 20; ++i) x = std::nextafter(x, -kInfinity);
    expect_rises_from(x, 40);
  }
}

TEST(PortableExp, NeverFallsOverAllFloatsWithTwelveBitsSkipped) {
  double before = 0;
  const auto visit = [&](std::uint32_t bits) {
    const double after = portable_exp(std::bit_cast<float>(bits));
    ASSERT_LE(before, after) << std::bit_cast<float>(bits);
    before = after;
  };
  for (std::uint32_t bits = 0xff800000; bits >= 0x80001000; bits -= 0x1000) visit(bits);
  for (std::uint32_t bits = 0; bits <= 0x7f800000; bits += 0x1000) visit(bits);
}

TEST(PortableLog, IsWithinOneUlpOfTheTruth) {
  Random random(3);
  double worst = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    double x;
    if (i % 2 == 0) {
      x = std::bit_cast<double>(random.below(0x7ff0000000000000 - 1) + 1);  // any positive double
    } else {
      x = 0.5 + 1.5 * random.uniform();
    }
    worst = std::max(worst, error_in_ulps(portable_log(x), std::log(static_cast<long double>(x))));
  }
  EXPECT_LE(worst, 1.0);
}

TEST(PortableLog, HandlesTheEdges) {
  EXPECT_EQ(portable_log(1.0), 0.0);
  EXPECT_EQ(portable_log(0.0), -kInfinity);
  EXPECT_EQ(portable_log(-0.0), -kInfinity);
  EXPECT_EQ(portable_log(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(portable_log(-1.0)));
  EXPECT_TRUE(std::isnan(portable_log(-kInfinity)));
  EXPECT_TRUE(std::isnan(portable_log(NAN)));
}

TEST(PortableCos, IsWithinItsBoundOverTheCircle) {
  constexpr double kTwoPi = 6.283185307179586;
  double worst = 0;
  for (int i = -1'000'000; i <= 1'000'000; ++i) {
    const double x = kTwoPi * i / 1'000'000;
    const long double wanted = std::cos(static_cast<long double>(x));
    worst = std::max(worst, static_cast<double>(std::fabs(portable_cos(x) - wanted)));
  }
  EXPECT_LT(worst, 2.5e-16);
}

TEST(PortableCos, HandlesTheEdges) {
  EXPECT_EQ(portable_cos(0.0), 1.0);
  EXPECT_NEAR(portable_cos(99999.0), std::cos(99999.0), 1e-10);
  EXPECT_TRUE(std::isnan(portable_cos(1e6)));
  EXPECT_TRUE(std::isnan(portable_cos(kInfinity)));
  EXPECT_TRUE(std::isnan(portable_cos(NAN)));
}

}  // namespace
}  // namespace espalier
