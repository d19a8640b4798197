// SPDX-License-Identifier: Apache-2.0
// A dataset encoded as inputs of a model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/large_vector.h"
#include "espalier/schema.h"
#include "table/row_range.h"

namespace espalier {

/// Side columns by role, one number per row; empty if the dataset has no such column.
class BesideColumns {
 public:
  LargeVector<float>& operator[](Role role) { return columns_[static_cast<std::size_t>(role)]; }
  const LargeVector<float>& operator[](Role role) const {
    return columns_[static_cast<std::size_t>(role)];
  }

 private:
  std::array<LargeVector<float>, std::size(Words<Role>::list)> columns_;
};

struct Dataset {
  std::size_t num_rows = 0;
  std::size_t num_features = 0;  // inputs per row: features, then pairs
  bool is_divided = false;       // other ranks have the inputs of other rows; all have the rest
  std::size_t first = 0;         // the first row in cells
  LargeVector<float> cells;      // [row - first][num_features], see encode.h
  LargeVector<double> labels;    // numbers or classes; empty if not requested
  BesideColumns beside;

  const float* row(std::size_t index) const {
    return cells.data() + (index - first) * num_features;
  }

  /// The rows whose inputs this process has.
  RowRange own_rows() const {
    return is_divided ? RowRange{first, first + cells.size() / num_features}
                      : RowRange{0, num_rows};
  }

  const LargeVector<float>& weights() const { return beside[Role::weight]; }
  float weight(std::size_t index) const { return at(Role::weight, index, 1); }
  float exposure(std::size_t index) const { return at(Role::exposure, index, 1); }
  float offset(std::size_t index) const { return at(Role::offset, index, 0); }

 private:
  float at(Role role, std::size_t index, float otherwise) const {
    return beside[role].empty() ? otherwise : beside[role][index];
  }
};

/// The rows [begin, end).
Rows rows_between(std::size_t begin, std::size_t end);

/// Some rows of a dataset as a new dataset.
Dataset subset(const Dataset& data, const Rows& rows);

/// The same without inputs.
Dataset subset_without_cells(const Dataset& data, const Rows& rows);

}  // namespace espalier
