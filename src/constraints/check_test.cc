// SPDX-License-Identifier: Apache-2.0
#include "constraints/check.h"

#include <gtest/gtest.h>

#include <vector>

namespace espalier {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

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

TEST(Check, FindsAFallOfOneUlpInAChain) {
  const std::vector<float> values = {0, 1, std::nextafter(1.0f, 0.0f), 1, 1};
  const Found found = found_by([&](auto visit) { return check_chain(values, visit); });
  EXPECT_EQ(found.check.inequalities, 4u);
  EXPECT_EQ(found.places, (Places{{1, 2}}));
}

TEST(Check, CountsNanAsViolationOfAllItsInequalities) {
  const std::vector<float> values = {0, kNan, 1};
  EXPECT_EQ(check_chain(values).violations, 2u);
  EXPECT_EQ(check_bounds(values, 0, 1).violations, 2u);
  EXPECT_EQ(check_non_negative(values).violations, 1u);
  EXPECT_EQ(check_finite(values).violations, 1u);
  const std::vector<float> cube = {kNan, 1, 1, 1};
  EXPECT_EQ(check_cube(cube, 3).violations, 2u);
}

TEST(Check, ChecksOnlyTheMonotoneDimensionsOfACube) {
  const std::vector<float> theta = {0, -1, 2, 1};  // falls along dimension 0, rises along 1
  EXPECT_EQ(check_cube(theta, 0).inequalities, 0u);
  EXPECT_EQ(check_cube(theta, 2).inequalities, 2u);
  EXPECT_EQ(check_cube(theta, 2).violations, 0u);
  const Found found = found_by([&](auto visit) { return check_cube(theta, 3, visit); });
  EXPECT_EQ(found.check.inequalities, 4u);
  EXPECT_EQ(found.places, (Places{{0, 1}, {2, 3}}));
}

TEST(Check, NamesValuesOutsideTheirBounds) {
  const std::vector<float> values = {0, -1, 2, 1};
  const Found bounds = found_by([&](auto visit) { return check_bounds(values, 0, 1, visit); });
  EXPECT_EQ(bounds.check.inequalities, 8u);
  EXPECT_EQ(bounds.places, (Places{{1, 1}, {2, 2}}));
  const Found sign = found_by([&](auto visit) { return check_non_negative(values, visit); });
  EXPECT_EQ(sign.check.inequalities, 4u);
  EXPECT_EQ(sign.places, (Places{{1, 1}}));
}

TEST(Check, FindsInfinities) {
  const std::vector<float> values = {0, kInfinity, -kInfinity, std::numeric_limits<float>::max()};
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

TEST(Check, FindsNothingInEmptySpans) {
  EXPECT_EQ(check_chain({}).inequalities, 0u);
  EXPECT_EQ(check_finite({}).inequalities, 0u);
}

}  // namespace
}  // namespace espalier
