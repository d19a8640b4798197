// SPDX-License-Identifier: Apache-2.0
#include "layers/grid.h"

namespace espalier {

namespace {

GridPlace place_of(const Grid& grid, int code) {
  return place_on_grid(grid.first.vertices, grid.second.vertices, grid.steps, code);
}

// Where a vertex of a column starts, from 0 to 1.
float start_of(const GridAxis& axis, int vertex) {
  const int skip = axis.has_missing ? 1 : 0;
  if (vertex < skip) return 0.5f;
  return static_cast<float>(vertex - skip) / static_cast<float>(axis.vertices - 1 - skip);
}

}  // namespace

std::vector<Rise> rises_of(const Grid& grid) {
  const auto rows = static_cast<std::size_t>(grid.first.vertices);
  const auto columns = static_cast<std::size_t>(grid.second.vertices);
  const std::size_t skip_rows = grid.first.has_missing, skip_columns = grid.second.has_missing;
  std::vector<Rise> rises;
  if (grid.first.rises) {
    rises.push_back({.first = skip_rows * columns,
                     .length = rows - skip_rows,
                     .step = static_cast<std::ptrdiff_t>(columns),
                     .lanes = columns});
  }
  if (grid.second.rises) {
    rises.push_back({.first = skip_columns,
                     .length = columns - skip_columns,
                     .step = 1,
                     .blocks = rows,
                     .pitch = columns});
  }
  return rises;
}

void start_grid(const Grid& grid, float* table) {
  const int rising = (grid.first.rises ? 1 : 0) + (grid.second.rises ? 1 : 0);
  for (int k = 0; k < grid.first.vertices; ++k) {
    for (int l = 0; l < grid.second.vertices; ++l) {
      float sum = 0;
      if (grid.first.rises) sum += start_of(grid.first, k);
      if (grid.second.rises) sum += start_of(grid.second, l);
      *table++ = rising > 0 ? sum / static_cast<float>(rising) : 0.5f;
    }
  }
}

double grid_at(const Grid& grid, const float* table, int code) {
  const GridPlace place = place_of(grid, code);
  const float* low = table + place.at;
  const float* high = low + grid.second.vertices;
  const double a = low[0] + place.u * (static_cast<double>(low[1]) - low[0]);
  const double b = high[0] + place.u * (static_cast<double>(high[1]) - high[0]);
  return a + place.t * (b - a);
}

void grid_forward(const Grid& grid, const float* table, const float* codes, float* out) {
  for (int r = 0; r < kTile; ++r) {
    const GridPlace place = place_of(grid, static_cast<int>(codes[r]));
    const float* low = table + place.at;
    const float* high = low + grid.second.vertices;
    const float a = low[0] + place.u * (low[1] - low[0]);
    const float b = high[0] + place.u * (high[1] - high[0]);
    out[r] = a + place.t * (b - a);
  }
}

void grid_backward(const Grid& grid, const float* codes, const float* grad_out, float* grad_table) {
  for (int r = 0; r < kTile; ++r) {
    const GridPlace place = place_of(grid, static_cast<int>(codes[r]));
    float* low = grad_table + place.at;
    float* high = low + grid.second.vertices;
    const float to_high = place.t * grad_out[r], to_low = grad_out[r] - to_high;
    low[0] += to_low - place.u * to_low;
    low[1] += place.u * to_low;
    high[0] += to_high - place.u * to_high;
    high[1] += place.u * to_high;
  }
}

}  // namespace espalier
