// SPDX-License-Identifier: Apache-2.0
// A sample of many rows: one row of each block of k neighbors, selected by a hash of the block's
// index. k is the smallest block size that gives at most `most` rows.
//
// The sample represents all rows whatever their order. Of m full blocks, the fraction S(x) of
// sampled rows with a value of at most x has the mean F(x), the fraction of all rows: block j
// contributes such a row with probability p_j, its own fraction, and F = sum_j p_j / m. The draws
// are independent, so Hoeffding's inequality gives
//
//   P(|S(x) - F(x)| > e) <= 2 exp(-2 m e^2)
//
// for each x: an error of 0.5 % has probability 3 * 10^-11 at m = 500,000. The sample depends on
// row indices only, so that rows in memory, on disk and in consecutive parts give the same sample.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/random.h"

namespace espalier {

/// Calls visit(index) in increasing order for the sampled indices below num_rows: all of them if
/// there are at most `most`, which is at least 1.
template <class Visit>
void visit_sample(std::size_t num_rows, std::size_t most, const Visit& visit) {
  constexpr std::uint64_t kSeed = 1;
  const Random random(kSeed);
  const std::size_t stretch = num_rows / most + 1;
  for (std::size_t begin = 0, j = 0; begin < num_rows; begin += stretch, ++j) {
    const std::size_t count = std::min(stretch, num_rows - begin);
    visit(begin + (count > 1 ? random.split(j).below(count) : 0));
  }
}

}  // namespace espalier
