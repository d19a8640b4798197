// SPDX-License-Identifier: Apache-2.0
#include "constraints/check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace espalier {
namespace {

// What a check found: counts and the places of the culprits.
struct Found {
  Check check;
  std::vector<std::pair<std::size_t, std::size_t>> places;
};

template <class F>
Found found_by(const F& run) {
  Found found;
  found.check = run([&](const Culprit& culprit) {
    EXPECT_FALSE(culprit.low <= culprit.high);
    found.places.emplace_back(culprit.i, culprit.j);
  });
  EXPECT_EQ(found.check.violations, found.places.size());
  return found;
}

using Places = std::vector<std::pair<std::size_t, std::size_t>>;

TEST(Check, FindsInfinities) {
  const std::vector<float> values = {0, INFINITY, -INFINITY, std::numeric_limits<float>::max()};
  const Found found = found_by([&](auto visit) { return check_finite(values, visit); });
  EXPECT_EQ(found.check.inequalities, 4u);
  EXPECT_EQ(found.places, (Places{{1, 1}, {2, 2}}));
}

TEST(Check, AddsUp) {
  Check sum;
  sum += Check{3, 1};
  sum += Check{4, 2};
  EXPECT_EQ(sum.inequalities, 7u);
  EXPECT_EQ(sum.violations, 3u);
}

TEST(Check, FindsNothingInEmptySpans) { EXPECT_EQ(check_finite({}).inequalities, 0u); }

TEST(Check, CountsNanAsNotFinite) {
  EXPECT_EQ(check_finite(std::vector<float>{0, NAN, 1}).violations, 1u);
}

}  // namespace
}  // namespace espalier
