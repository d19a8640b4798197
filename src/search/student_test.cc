// SPDX-License-Identifier: Apache-2.0
#include "search/student.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/random.h"

namespace espalier {
namespace {

TEST(Student, QuantilesAreThoseOfTables) {
  EXPECT_NEAR(student_quantile(0.025, 1), 12.706, 5e-4);
  EXPECT_NEAR(student_quantile(0.05, 2), 2.920, 5e-4);
  EXPECT_NEAR(student_quantile(0.01, 3), 4.541, 5e-4);
  EXPECT_NEAR(student_quantile(0.025, 4), 2.776, 5e-4);
  EXPECT_NEAR(student_quantile(0.0005, 9), 4.781, 5e-4);
  EXPECT_NEAR(student_quantile(0.001, 30), 3.385, 5e-4);
  EXPECT_NEAR(student_quantile(0.025, 1000), 1.962, 5e-4);
}

// One and two degrees have closed forms.
TEST(Student, QuantilesOfOneAndTwoDegreesAreExact) {
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const double tail = 0.001 + 0.498 * random.uniform(), a = 1 - 2 * tail;
    const double one = 1 / std::tan(std::numbers::pi * tail), two = a * std::sqrt(2 / (1 - a * a));
    EXPECT_NEAR(student_quantile(tail, 1), one, 1e-9 * (1 + one));
    EXPECT_NEAR(student_quantile(tail, 2), two, 1e-9 * (1 + two));
  }
}

TEST(Student, QuantilesFallWithDegreesAndTheTail) {
  for (int degrees = 1; degrees < 50; ++degrees) {
    for (double tail = 0.001; tail < 0.4; tail *= 1.5) {
      EXPECT_GT(student_quantile(tail, degrees), student_quantile(tail, degrees + 1));
      EXPECT_GT(student_quantile(tail, degrees), student_quantile(1.5 * tail, degrees));
    }
  }
}

}  // namespace
}  // namespace espalier
