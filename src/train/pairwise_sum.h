// SPDX-License-Identifier: Apache-2.0
// A sum whose order follows from the number of its terms alone: a tree of pairs, the largest power
// of two on the left, ((a0 + a1) + (a2 + a3)) + a4. Whoever holds an aligned run of a power of two
// of the terms can add them apart, on another core or another machine, and the bits stay the same.
#pragma once

#include <bit>
#include <cstddef>
#include <span>

namespace espalier {

/// How many of n > 1 terms the left branch has.
constexpr std::size_t left_branch(std::size_t n) { return std::bit_ceil(n) / 2; }

/// Of one term or more.
template <class T>
T pairwise_sum(std::span<const T> terms) {
  if (terms.size() == 1) return terms.front();
  const std::size_t left = left_branch(terms.size());
  T sum = pairwise_sum(terms.first(left));
  sum += pairwise_sum(terms.subspan(left));
  return sum;
}

}  // namespace espalier
