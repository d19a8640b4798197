// SPDX-License-Identifier: Apache-2.0
#include "constraints/inequalities.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "constraints/lattice_shape.h"
#include "core/random.h"

namespace espalier {
namespace {

using Places = std::vector<std::pair<std::size_t, std::size_t>>;

struct FoundIn {
  Check check;
  Places places;
};

FoundIn found_in(const std::vector<float>& values, const InequalityList& list) {
  FoundIn found;
  found.check = check_inequalities(values, list, [&](const Culprit& culprit) {
    EXPECT_FALSE(culprit.low <= culprit.high);
    found.places.emplace_back(culprit.i, culprit.j);
  });
  EXPECT_EQ(found.check.violations, found.places.size());
  return found;
}

FoundIn found_in(const std::vector<float>& values, const std::vector<Rise>& rises) {
  return found_in(values, InequalityList{.bounds = {}, .rises = rises});
}

FoundIn found_in(const std::vector<float>& values, const Bounds& bounds) {
  return found_in(values, InequalityList{.bounds = {&bounds, 1}, .rises = {}});
}

TEST(Inequalities, FindAFallOfOneUlpInAChain) {
  const FoundIn found = found_in({0, 1, std::nextafter(1.0f, 0.0f), 1, 1}, {{.length = 5}});
  EXPECT_EQ(found.check.inequalities, 4u);
  EXPECT_EQ(found.places, (Places{{1, 2}}));
}

TEST(Inequalities, CountNanAsViolationOfAllThatItIsIn) {
  EXPECT_EQ(found_in({0, NAN, 1}, {{.length = 3}}).check.violations, 2u);
  EXPECT_EQ(found_in({0, NAN, 1}, Bounds{.count = 3, .lo = 0, .hi = 1}).check.violations, 2u);
  EXPECT_EQ(found_in({0, NAN, 1}, Bounds{.count = 3, .lo = 0}).check.violations, 1u);
  const auto square = LatticeShape::cube(2);
  EXPECT_EQ(found_in({NAN, 1, 1, 1}, {square.rise(0), square.rise(1)}).check.violations, 2u);
}

TEST(Inequalities, AreThoseOfTheListedDimensionsOfALattice) {
  const std::vector<float> theta = {0, -1, 2, 1};  // falls along dimension 0, rises along 1
  const auto square = LatticeShape::cube(2);
  EXPECT_EQ(found_in(theta, std::vector<Rise>{}).check.inequalities, 0u);
  EXPECT_EQ(found_in(theta, {square.rise(1)}).check.inequalities, 2u);
  EXPECT_EQ(found_in(theta, {square.rise(1)}).check.violations, 0u);
  const FoundIn found = found_in(theta, {square.rise(0), square.rise(1)});
  EXPECT_EQ(found.check.inequalities, 4u);
  EXPECT_EQ(found.places, (Places{{0, 1}, {2, 3}}));
}

TEST(Inequalities, NameValuesOutsideTheirBounds) {
  const std::vector<float> values = {0, -1, 2, 1};
  const FoundIn both = found_in(values, Bounds{.count = 4, .lo = 0, .hi = 1});
  EXPECT_EQ(both.check.inequalities, 8u);
  EXPECT_EQ(both.places, (Places{{1, 1}, {2, 2}}));
  const FoundIn sign = found_in(values, Bounds{.count = 4, .lo = 0});
  EXPECT_EQ(sign.check.inequalities, 4u);
  EXPECT_EQ(sign.places, (Places{{1, 1}}));
  EXPECT_EQ(found_in(values, Bounds{.first = 2, .count = 1, .lo = 0, .hi = 1}).places,
            (Places{{2, 2}}));
}

// Down to the third value, then up: the shape of a valley, as two lines.
TEST(Inequalities, ALineMayRunBackwards) {
  const std::vector<Rise> valley = {{.first = 2, .length = 3, .step = -1},
                                    {.first = 2, .length = 3}};
  EXPECT_EQ(found_in({5, 2, 1, 1, 4}, valley).check.inequalities, 4u);
  EXPECT_EQ(found_in({5, 2, 1, 1, 4}, valley).check.violations, 0u);
  EXPECT_EQ(found_in({1, 2, 1, 3, 2}, valley).places, (Places{{1, 0}, {3, 4}}));
}

// For lattices of any sizes: a rise holds exactly the pairs of neighbours along its dimension.
TEST(LatticeShape, ARiseIsEveryPairOfNeighboursAlongItsDimension) {
  for (const std::vector<std::size_t>& sizes : std::vector<std::vector<std::size_t>>{
           {2}, {7}, {2, 2, 2}, {3, 2}, {2, 5}, {4, 3, 5}, {1, 3}, {2, 1, 2}}) {
    const LatticeShape shape(sizes);
    std::vector<float> falling(shape.num_vertices());  // no two are in the wanted order
    std::iota(falling.rbegin(), falling.rend(), 0.0f);
    for (int d = 0; d < shape.num_dims(); ++d) {
      std::set<std::pair<std::size_t, std::size_t>> wanted;
      for (std::size_t v = 0; v < shape.num_vertices(); ++v) {
        const std::size_t place = v / shape.stride(d) % shape.size(d);
        if (place + 1 < shape.size(d)) wanted.emplace(v, v + shape.stride(d));
      }
      const FoundIn found = found_in(falling, {shape.rise(d)});
      EXPECT_EQ(found.check.inequalities, wanted.size());
      EXPECT_EQ((std::set(found.places.begin(), found.places.end())), wanted);
    }
  }
}

TEST(Bounds, ClippedValuesMeetThemAndOthersStay) {
  Random random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<float> values(1 + random.below(40));
    for (float& value : values) value = static_cast<float>(random.normal());
    Bounds bounds{.first = random.below(values.size())};
    bounds.count = random.below(values.size() - bounds.first + 1);
    if (random.below(3) != 0) bounds.lo = -0.5f;
    if (random.below(3) != 0) bounds.hi = 0.5f;
    std::vector<float> clipped = values;
    clip(clipped, bounds);
    EXPECT_EQ(check_bounds(clipped, bounds).violations, 0u);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool bound = i >= bounds.first && i < bounds.first + bounds.count;
      EXPECT_EQ(clipped[i],
                bound ? std::min(std::max(values[i], bounds.lo), bounds.hi) : values[i]);
    }
  }
}

TEST(Bounds, ClippedValuesMoveToTheNearestAndNanStays) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values = {-2, 0.25f, 3, -infinity, infinity, nan};
  clip(values, {.count = 6, .lo = 0, .hi = 1});
  EXPECT_EQ(std::vector<float>(values.begin(), values.end() - 1),
            (std::vector<float>{0, 0.25f, 1, 0, 1}));
  EXPECT_TRUE(std::isnan(values.back()));
  values = {-2, 0.25f, 3, nan};
  clip(values, {.count = 4, .lo = 0});
  EXPECT_EQ(std::vector<float>(values.begin(), values.end() - 1),
            (std::vector<float>{0, 0.25f, 3}));
  EXPECT_TRUE(std::isnan(values.back()));
}

}  // namespace
}  // namespace espalier
