// SPDX-License-Identifier: Apache-2.0
// A table as a network reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace espalier {

/// Which rows of a table, in order.
using Rows = std::vector<std::uint32_t>;

struct Dataset {
  std::size_t num_rows = 0;
  std::size_t num_features = 0;
  std::vector<float> cells;    // [num_rows][num_features], see encode.h
  std::vector<double> labels;  // one per row: 0 or 1, or the number; empty if not asked for
  std::vector<float> weights;  // one per row, or empty: all 1

  const float* row(std::size_t index) const { return cells.data() + index * num_features; }
  float weight(std::size_t index) const { return weights.empty() ? 1.0f : weights[index]; }
};

}  // namespace espalier
