// SPDX-License-Identifier: Apache-2.0
#include "objective/quantile_shift.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/random.h"
#include "objective/loss.h"

namespace espalier {
namespace {

constexpr int kDraws = 200;

struct Drawn {
  Label label;
  Dataset rows;
  std::vector<float> scores;
};

// Labels with ties, scores of levels that are too close together or too far apart.
Drawn draw(Random& random) {
  Drawn drawn;
  const std::size_t levels = 1 + random.below(4);
  drawn.label.loss = Loss::quantile;
  for (std::size_t l = 0; l < levels; ++l)
    drawn.label.quantiles.push_back((static_cast<double>(l) + 0.5) / static_cast<double>(levels));
  drawn.label.offsets.assign(levels, 3);
  drawn.rows.num_rows = 1 + random.below(40);
  const double apart = 4 * random.uniform() - 1;
  for (std::size_t i = 0; i < drawn.rows.num_rows; ++i) {
    drawn.rows.labels.push_back(static_cast<double>(random.below(20)) / 4);
    drawn.rows.beside[Role::weight].push_back(static_cast<float>(random.below(3)));
    for (std::size_t l = 0; l < levels; ++l)
      drawn.scores.push_back(static_cast<float>(random.uniform() + apart * static_cast<double>(l)));
  }
  return drawn;
}

// Of the scores moved by the shift of each level.
double loss_of(const Drawn& drawn, const std::vector<double>& shifts) {
  double sum = 0;
  for (std::size_t i = 0; i < drawn.rows.num_rows; ++i) {
    for (std::size_t l = 0; l < shifts.size(); ++l) {
      sum += drawn.rows.weight(i) * pinball_loss(drawn.label.quantiles[l], drawn.rows.labels[i],
                                                 drawn.scores[i * shifts.size() + l] + shifts[l]);
    }
  }
  return sum;
}

std::vector<double> shifts_of(const Drawn& drawn) {
  Label label = drawn.label;
  shift_quantiles(drawn.rows, drawn.scores, label);
  for (double& offset : label.offsets) offset -= 3;
  return label.offsets;
}

TEST(QuantileShift, StaysInOrderAndNoOtherShiftInOrderHasALowerLoss) {
  Random random(1);
  for (int d = 0; d < kDraws; ++d) {
    const Drawn drawn = draw(random);
    const std::vector<double> shifts = shifts_of(drawn);
    ASSERT_TRUE(std::ranges::is_sorted(shifts));
    const double least = loss_of(drawn, shifts) - 1e-6;
    ASSERT_LE(least, loss_of(drawn, std::vector<double>(shifts.size(), 0)));
    for (int other = 0; other < 50; ++other) {
      std::vector<double> tried = shifts;
      for (double& shift : tried) shift += random.uniform() - 0.5;
      std::ranges::sort(tried);
      ASSERT_LE(least, loss_of(drawn, tried));
    }
  }
}

TEST(QuantileShift, OneQuantileHasItsShareOfTheLabelsBelowIt) {
  Random random(2);
  for (int d = 0; d < kDraws; ++d) {
    Drawn drawn = draw(random);
    if (drawn.label.quantiles.size() > 1) continue;
    const double shift = shifts_of(drawn)[0];
    double total = 0, below = 0, up_to = 0;
    for (std::size_t i = 0; i < drawn.rows.num_rows; ++i) {
      const double weight = drawn.rows.weight(i);
      const double over = drawn.rows.labels[i] - drawn.scores[i] - shift;
      total += weight;
      below += over < -1e-9 ? weight : 0;
      up_to += over <= 1e-9 ? weight : 0;
    }
    EXPECT_LE(below, 0.5 * total);
    EXPECT_GE(up_to, 0.5 * total);
  }
}

// By hand: the levels are too far apart, their residuals 2, 3, 4 and -4, -3, -2 cannot both be met,
// and half of all six lie up to -2.
TEST(QuantileShift, LevelsThatWouldPassEachOtherShareAShift) {
  Drawn drawn{.label = {.loss = Loss::quantile, .quantiles = {0.25, 0.75}, .offsets = {3, 3}},
              .rows = {.num_rows = 3, .labels = {3, 4, 5}},
              .scores = {1, 7, 1, 7, 1, 7}};
  EXPECT_EQ(shifts_of(drawn), (std::vector<double>{-2, -2}));
}

}  // namespace
}  // namespace espalier
