// SPDX-License-Identifier: Apache-2.0
// A table over two columns, interpolated: the calibrator of a pair with a monotone column. Both
// columns have vertices; a row lies `steps`-ths of the way between two of them, and the place of
// both is one whole number, so that a grid is one wire.
//
//   code = p * width + q,  width = (vertices of second - 1) * steps + 1
//   k = min(p / steps, vertices of first - 2),  t = p / steps - k;  l and u of q in the same way
//   a = T[k][l] + u (T[k][l+1] - T[k][l]),  b = T[k+1][l] + u (T[k+1][l+1] - T[k+1][l])
//   y = a + t (b - a)
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "constraints/inequalities.h"
#include "layers/tile.h"

namespace espalier {

/// One column of a grid.
struct GridAxis {
  int vertices = 0;
  bool rises = false;        // the table never falls along it
  bool has_missing = false;  // the first vertex is a missing cell, in no order with the others
  bool is_number = false;    // neighbours are near each other; else they are words
};

struct Grid {
  GridAxis first;
  GridAxis second;
  int steps = 1;  // a power of two, so that shares of a cell are exact

  bool is_empty() const { return first.vertices == 0; }
  std::size_t num_vertices() const {
    return static_cast<std::size_t>(first.vertices) * static_cast<std::size_t>(second.vertices);
  }
  int num_codes() const {
    return ((first.vertices - 1) * steps + 1) * ((second.vertices - 1) * steps + 1);
  }
};

/// Where a code lies: between T[at], T[at + 1] and the two a row further.
struct GridPlace {
  std::size_t at;
  float t;  // along the first column
  float u;  // along the second
};

inline GridPlace place_on_grid(int rows, int columns, int steps, int code) noexcept {
  const int width = (columns - 1) * steps + 1;
  const int p = code / width, q = code % width;
  const int k = std::min(p / steps, rows - 2), l = std::min(q / steps, columns - 2);
  const float step = 1 / static_cast<float>(steps);
  return {static_cast<std::size_t>(k * columns + l), static_cast<float>(p - k * steps) * step,
          static_cast<float>(q - l * steps) * step};
}

/// That the table rises along the columns that must.
std::vector<Rise> rises_of(const Grid& grid);

/// The start: the mean of a straight line from 0 to 1 for each column that rises.
void start_grid(const Grid& grid, float* table);

/// One row in double.
double grid_at(const Grid& grid, const float* table, int code);

/// A tile of codes, and the gradient of the table.
void grid_forward(const Grid& grid, const float* table, const float* codes, float* out);
void grid_backward(const Grid& grid, const float* codes, const float* grad_out, float* grad_table);

/// visit(first, step, length) for each line of neighbours that are numbers.
template <class Visitor>
void for_each_smooth_line(const Grid& grid, const Visitor& visit) {
  const std::size_t columns = static_cast<std::size_t>(grid.second.vertices);
  const std::size_t rows = static_cast<std::size_t>(grid.first.vertices);
  const std::size_t skip_rows = grid.first.has_missing, skip_columns = grid.second.has_missing;
  for (std::size_t l = 0; grid.first.is_number && l < columns; ++l)
    visit(skip_rows * columns + l, columns, rows - skip_rows);
  for (std::size_t k = 0; grid.second.is_number && k < rows; ++k)
    visit(k * columns + skip_columns, std::size_t{1}, columns - skip_columns);
}

}  // namespace espalier
