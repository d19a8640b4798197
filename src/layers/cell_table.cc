// SPDX-License-Identifier: Apache-2.0
#include "layers/cell_table.h"

namespace espalier {

WayBack enter_binade(std::span<const float> values, float* moved) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double low = *least, range = *most - low;
  for (const float value : values) {
    *moved++ = range > 0 ? static_cast<float>(1 + (value - low) / range) : 1.0f;
  }
  return {*least, static_cast<float>(range)};
}

std::vector<CellTable> cell_tables(const Calibrators& layer, const float* params) {
  std::vector<CellTable> cells;
  for (int u = 0; u < layer.num_units(); ++u) {
    const Wire& wire = layer.inputs()[static_cast<std::size_t>(u)];
    std::vector<float> values(params + layer.unit_begin(u), params + layer.unit_begin(u + 1));
    CellTable& cell = cells.emplace_back();
    if (values.empty()) continue;
    cell.kind = wire.is_grid()       ? CellTable::Kind::grid
                : wire.is_category() ? CellTable::Kind::category
                                     : CellTable::Kind::position;
    cell.rows = wire.grid.first.vertices;
    cell.columns = wire.grid.second.vertices;
    cell.steps = wire.is_grid() ? wire.grid.steps : 0;
    cell.keypoints = layer.keypoints(u);
    if (wire.is_category())
      values.push_back(static_cast<float>(mean_over(wire.shares, values.data())));  // unseen
    cell.table.resize(values.size());
    cell.back = enter_binade(values, cell.table.data());
  }
  return cells;
}

}  // namespace espalier
