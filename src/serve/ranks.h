// SPDX-License-Identifier: Apache-2.0
// What a forest needs to know of an encoded cell: between which of its thresholds it lies. Cells of
// the same rank get the same answer from every split.
//
//   number, level   0 for a missing value, else 1 + the number of thresholds that are <= the cell
//   category        its code
//
// A position lies k + t behind keypoint k, so that only the thresholds in [k, k + 1) are compared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "serve/program.h"

namespace espalier {

/// An input of a forest that some split reads.
struct RankedColumn {
  std::uint32_t wire = 0;
  bool is_category = false;
  std::uint32_t num_ranks = 0;
  std::uint32_t first = 0;  // of RankedColumns::firsts; [0]: missing, [1 + k]: from keypoint k on
  std::uint32_t cuts = 0;   // of RankedColumns::cuts
  std::uint32_t most = 0;   // thresholds between two keypoints
};

struct RankedColumns {
  std::vector<RankedColumn> columns;
  std::vector<std::uint32_t> of_wire;  // which column an input is; kNone: no split reads it
  std::vector<std::uint32_t> firsts;   // the least rank of a cell from a keypoint on
  std::vector<float> cuts;  // of each column: the largest float, its thresholds, largest floats

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit RankedColumns(const ForestStep& step);

  const RankedColumn& column_of(const DecisionSplit& split) const {
    return columns[of_wire[split.feature]];
  }

  /// The first rank that goes right; number, level.
  std::uint32_t first_right(const DecisionSplit& split) const;

  /// Whether a cell of this rank goes right.
  bool goes_right(const DecisionForest& forest, const DecisionSplit& split,
                  std::uint32_t rank) const;

  std::uint32_t rank(const RankedColumn& column, float cell) const noexcept {
    if (column.is_category) return static_cast<std::uint32_t>(cell);
    std::uint32_t rank =
        firsts[column.first + static_cast<std::uint32_t>(static_cast<int>(cell) + 1)];
    const float* next = cuts.data() + column.cuts + rank;
    std::uint32_t left = column.most;
    for (; left > kFewCuts; left -= left / 2) {  // by halves, without a branch
      const std::uint32_t half = left / 2;
      const std::uint32_t step = next[half - 1] <= cell ? half : 0;
      rank += step;
      next += step;
    }
    std::uint32_t more = 0;
    for (std::uint32_t i = 0; i < left; ++i) more += next[i] <= cell ? 1 : 0;
    return rank + more;
  }

 private:
  static constexpr std::uint32_t kFewCuts = 8;
};

}  // namespace espalier
