// SPDX-License-Identifier: Apache-2.0
#include "encode/row_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "core/random.h"

namespace espalier {
namespace {

std::vector<std::size_t> sample_of(std::size_t num_rows, std::size_t most) {
  std::vector<std::size_t> places;
  visit_sample(num_rows, most, [&](std::size_t place) { places.push_back(place); });
  return places;
}

TEST(RowSample, HasAtMostSoManyRowsInOrder) {
  for (const std::size_t most : {1, 7, 100}) {
    for (std::size_t rows = 0; rows < 900; rows += 13) {
      const std::vector<std::size_t> places = sample_of(rows, most);
      EXPECT_LE(places.size(), most);
      EXPECT_TRUE(std::ranges::is_sorted(places, std::less_equal<>())) << rows;
      EXPECT_TRUE(rows >= most || places.size() == rows);
      EXPECT_TRUE(places.empty() || places.back() < rows);
    }
  }
}

// sup_x |S(x) - F(x)| of values that are the numbers 0 ... rows - 1 in some order.
double largest_error(const std::vector<std::size_t>& values, std::size_t most) {
  std::vector<std::size_t> drawn;
  for (const std::size_t place : sample_of(values.size(), most)) drawn.push_back(values[place]);
  std::ranges::sort(drawn);
  double error = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    const double all = static_cast<double>(drawn[i] + 1) / static_cast<double>(values.size());
    const double own = static_cast<double>(i + 1) / static_cast<double>(drawn.size());
    error = std::max(error, std::abs(all - own));
  }
  return error;
}

// The bound for all x at once, by a union over a grid of 1000 of them, with odds of 10^-9.
TEST(RowSample, KeepsItsBoundWhateverTheOrderOfTheRows) {
  constexpr std::size_t kRows = 60'000, kMax = 2000, kStretch = kRows / kMax + 1;
  const double m = static_cast<double>(kRows / kStretch);
  const double bound = 0.001 + std::sqrt(std::log(2 * 1000 / 1e-9) / (2 * m));
  std::vector<std::size_t> rising(kRows), falling, shuffled, periodic(kRows);
  std::iota(rising.begin(), rising.end(), 0);
  falling.assign(rising.rbegin(), rising.rend());
  shuffled = rising;
  Random(3).shuffle(std::span(shuffled));
  // Each stretch has the same values: one row of a fixed place would see a single one.
  const std::size_t stretches = (kRows + kStretch - 1) / kStretch;
  for (std::size_t i = 0, value = 0; i < kStretch; ++i) {
    for (std::size_t j = 0; j < stretches; ++j) {
      if (const std::size_t place = j * kStretch + i; place < kRows) periodic[place] = value++;
    }
  }
  for (const auto& values : {rising, falling, shuffled, periodic})
    EXPECT_LT(largest_error(values, kMax), bound);
}

}  // namespace
}  // namespace espalier
