// SPDX-License-Identifier: Apache-2.0
// The first calibrators as the predictor evaluates them: tables with values in [1, 2].
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "hwy/base.h"
#include "layers/calibrators.h"
#include "layers/grid.h"

namespace espalier {

/// From a result y in [1, 2] to the units of its table: fma(range, y - 1, low), range >= 0.
struct WayBack {
  float low = 0;
  float range = 0;
};

/// What becomes of one encoded cell x.
///
///   position   x < 0: y = table[keypoints], missing; else k = min(floor(x), keypoints - 2),
///              y = fma(x - k, table[k + 1] - table[k], table[k])
///   category   y = table[x]
///   grid       x = p * ((columns - 1) * steps + 1) + q, whole numbers; in floats, all exact,
///              k = min(floor(p / steps), rows - 2), t = p / steps - k, and l and u of q and
///              columns in the same way; then of table[rows][columns]
///              a = fma(u, table[k][l + 1] - table[k][l], table[k][l]), b the same of row k + 1,
///              y = fma(t, b - a, a)
///   pass       x as it is: a later step picks by the code
///
/// and, unless it passes, the way back from y.
struct CellTable {
  enum class Kind { position, category, grid, pass };
  Kind kind = Kind::pass;
  int keypoints = 0;         // position
  std::vector<float> table;  // position: keypoints, then missing if that was learned; category: a
                             // value per word, then unseen; grid: [rows][columns]
  WayBack back;
  int rows = 0;  // grid: at least 2, as are the columns
  int columns = 0;
  int steps = 0;  // grid: a power of two
};

/// Moves values into [1, 2]; each operation rounds monotonically, so their order stays.
WayBack enter_binade(std::span<const float> values, float* moved);

/// The tables of calibrators that read the encoded cells.
std::vector<CellTable> cell_tables(const Calibrators& layer, const float* params);

HWY_INLINE float grid_through(const CellTable& cell, float code) {
  const GridPlace place =
      place_on_grid(cell.rows, cell.columns, cell.steps, static_cast<int>(code));
  const float* low = cell.table.data() + place.at;
  const float* high = low + cell.columns;
  const float a = std::fma(place.u, low[1] - low[0], low[0]);
  const float b = std::fma(place.u, high[1] - high[0], high[0]);
  return std::fma(place.t, b - a, a);
}

/// The operations above; inlined, so that kernels compile them for every instruction set.
HWY_INLINE float through(const CellTable& cell, float x) {
  if (cell.kind == CellTable::Kind::pass) return x;
  const float* table = cell.table.data();
  float y;
  if (cell.kind == CellTable::Kind::grid) {
    y = grid_through(cell, x);
  } else if (cell.kind == CellTable::Kind::category) {
    y = table[static_cast<std::size_t>(x)];
  } else if (x < 0) {
    y = table[cell.keypoints];
  } else {
    const int k = std::min(static_cast<int>(x), cell.keypoints - 2);
    y = std::fma(x - static_cast<float>(k), table[k + 1] - table[k], table[k]);
  }
  return std::fma(cell.back.range, y - 1, cell.back.low);
}

}  // namespace espalier
