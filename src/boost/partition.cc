// SPDX-License-Identifier: Apache-2.0
#include "boost/partition.h"

#include <algorithm>
#include <numeric>

namespace espalier {

namespace {

constexpr std::size_t kLeastRows = 16384;  // that are worth a task of their own

}  // namespace

void RowPartition::reset() {
  pool_.run_ranges(rows_.size(), 4 * kLeastRows, [&](std::size_t begin, std::size_t end) {
    std::iota(rows_.data() + begin, rows_.data() + end, static_cast<std::uint32_t>(begin));
  });
}

std::size_t RowPartition::divide(std::size_t begin, std::size_t end, const std::uint8_t* bins,
                                 const GoesRight& goes_right) {
  const std::size_t pieces = std::clamp<std::size_t>((end - begin) / kLeastRows, 1,
                                                     static_cast<std::size_t>(pool_.size()));
  if (pieces > 1) return divide_in_parallel(begin, end, pieces, bins, goes_right);
  std::uint32_t* const rows = rows_.data() + begin;
  const std::size_t left = divide_rows(rows, end - begin, bins, goes_right, rows, right_.data());
  std::copy_n(right_.data(), end - begin - left, rows + left);
  return begin + left;
}

// Each piece is divided on its own; then its two lists are copied behind those of the pieces
// before.
std::size_t RowPartition::divide_in_parallel(std::size_t begin, std::size_t end, std::size_t pieces,
                                             const std::uint8_t* bins,
                                             const GoesRight& goes_right) {
  struct Piece {
    std::size_t begin, size, left;
    std::size_t to_left, to_right;
  };
  std::vector<Piece> all(pieces);
  for (std::size_t p = 0; p < pieces; ++p) {
    all[p].begin = begin + (end - begin) * p / pieces;
    all[p].size = begin + (end - begin) * (p + 1) / pieces - all[p].begin;
  }
  pool_.run(static_cast<int>(pieces), [&](int index) {
    Piece& own = all[static_cast<std::size_t>(index)];
    own.left = divide_rows(rows_.data() + own.begin, own.size, bins, goes_right,
                           left_.data() + own.begin, right_.data() + own.begin);
  });
  std::size_t middle = begin;
  for (Piece& own : all) {
    own.to_left = middle;
    middle += own.left;
  }
  std::size_t to_right = middle;
  for (Piece& own : all) {
    own.to_right = to_right;
    to_right += own.size - own.left;
  }
  pool_.run(static_cast<int>(pieces), [&](int index) {
    const Piece& own = all[static_cast<std::size_t>(index)];
    std::copy_n(left_.data() + own.begin, own.left, rows_.data() + own.to_left);
    std::copy_n(right_.data() + own.begin, own.size - own.left, rows_.data() + own.to_right);
  });
  return middle;
}

}  // namespace espalier
