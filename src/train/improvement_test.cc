// SPDX-License-Identifier: Apache-2.0
#include "train/improvement.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(HeldOut, AFallIsTheMeanOfDifferencesWithItsDeviation) {
  const Improvement fall = improvement_of({1, 2, 3, 4}, {0, 2, 2, 4});
  EXPECT_DOUBLE_EQ(fall.mean, 0.5);
  EXPECT_DOUBLE_EQ(fall.error, 0.25);
  EXPECT_TRUE(fall.is_clear(1.9));
  EXPECT_FALSE(fall.is_clear(2));
  EXPECT_FALSE(improvement_of({1, 1}, {1, 1}).is_clear(0)) << "nothing has changed";
  EXPECT_FALSE(improvement_of({1}, {0}).is_clear(0)) << "one row says nothing";
}

}  // namespace
}  // namespace espalier
