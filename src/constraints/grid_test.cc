// SPDX-License-Identifier: Apache-2.0
#include "constraints/grid.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/random.h"
#include "support/effort.h"

namespace espalier {
namespace {

// [rows][columns], the first row or column aside or not.
struct Case {
  std::size_t rows, columns;
  std::vector<Rise> rises;
  std::vector<float> values, variance;

  explicit Case(Random& random) : rows(2 + random.below(7)), columns(2 + random.below(7)) {
    const std::size_t skip = random.below(2);
    if (random.uniform() < 0.8)
      rises.push_back({.first = skip * columns,
                       .length = rows - skip,
                       .step = static_cast<std::ptrdiff_t>(columns),
                       .lanes = columns});
    if (random.uniform() < 0.8)
      rises.push_back(
          {.first = skip, .length = columns - skip, .step = 1, .blocks = rows, .pitch = columns});
    for (std::size_t i = 0; i < rows * columns; ++i) {
      values.push_back(static_cast<float>(random.normal()));
      variance.push_back(static_cast<float>(std::exp(2 * random.normal())));
    }
  }

  ChainWeights weights() const { return {.variance = variance.data(), .epsilon = 1e-3f}; }
  bool holds(const std::vector<float>& table) const {
    return check_inequalities(table, {{}, rises}).violations == 0;
  }
  double distance(const std::vector<float>& table) const {
    double sum = 0;
    for (std::size_t i = 0; i < table.size(); ++i)
      sum += weights()[i] * std::pow(static_cast<double>(table[i]) - values[i], 2);
    return sum;
  }
};

TEST(GridProjection, ProjectionsAndFinishLandExactlyAndLeaveWhatHolds) {
  for (std::uint64_t seed = 1; seed <= effort(2000u, 200u); ++seed) {
    Random random(seed);
    const Case own(random);
    for (const bool finish_only : {false, true}) {
      std::vector<float> table = own.values;
      if (finish_only) {
        finish_grid(table, own.rises);
      } else {
        project_grid(table, own.rises, own.weights());
      }
      ASSERT_TRUE(own.holds(table)) << seed;
      std::vector<float> again = table;
      project_grid(again, own.rises, own.weights());
      finish_grid(again, own.rises);
      ASSERT_EQ(again, table) << seed;
    }
  }
}

// For the nearest point x of a convex set to v, (v - x, z - x) <= 0 for every z of the set.
TEST(GridProjection, NoOtherTableThatHoldsIsNearer) {
  for (std::uint64_t seed = 1; seed <= effort(200u, 20u); ++seed) {
    Random random(seed);
    const Case own(random);
    std::vector<float> nearest = own.values;
    project_grid(nearest, own.rises, own.weights(), {.tolerance = 1e-9, .max_rounds = 100'000});
    for (int i = 0; i < 20; ++i) {
      std::vector<float> other = nearest;
      const double size = std::pow(10, -3 * random.uniform());
      for (float& value : other) value += static_cast<float>(size * random.normal());
      finish_grid(other, own.rises);
      ASSERT_GE(own.distance(other), own.distance(nearest) - 1e-5) << seed;
    }
  }
}

// The step of training ends its rounds early; what is left is far below a step.
TEST(GridProjection, FewRoundsComeNear) {
  for (std::uint64_t seed = 1; seed <= effort(200u, 20u); ++seed) {
    Random random(seed);
    const Case own(random);
    std::vector<float> exact = own.values, quick = own.values;
    project_grid(exact, own.rises, own.weights(), {.tolerance = 1e-9, .max_rounds = 100'000});
    project_grid(quick, own.rises, own.weights());
    for (std::size_t i = 0; i < exact.size(); ++i) ASSERT_NEAR(quick[i], exact[i], 1e-2) << seed;
  }
}

}  // namespace
}  // namespace espalier
