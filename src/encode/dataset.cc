// SPDX-License-Identifier: Apache-2.0
#include "encode/dataset.h"

#include <numeric>

namespace espalier {

Rows rows_between(std::size_t begin, std::size_t end) {
  Rows rows(end - begin);
  std::iota(rows.begin(), rows.end(), std::uint64_t{begin});
  return rows;
}

Dataset subset_without_cells(const Dataset& data, const Rows& rows) {
  Dataset part{.num_rows = rows.size(), .num_features = data.num_features};
  for (const std::uint64_t row : rows) {
    if (!data.labels.empty()) part.labels.push_back(data.labels[row]);
    for (const Role role : kSideRoles) {
      const LargeVector<float>& cells = data.beside[role];
      if (!cells.empty()) part.beside[role].push_back(cells[row]);
    }
  }
  return part;
}

Dataset subset(const Dataset& data, const Rows& rows) {
  Dataset part = subset_without_cells(data, rows);
  part.cells.reserve(rows.size() * data.num_features);
  for (const std::uint64_t row : rows)
    part.cells.insert(part.cells.end(), data.row(row), data.row(row + 1));
  return part;
}

}  // namespace espalier
