// SPDX-License-Identifier: Apache-2.0
// Rows of a table as the predictor reads them, repeated until there are as many as wanted.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "espalier/predictor.h"

namespace espalier {

/// [rows][features], from the rows of the table over and over again.
inline std::vector<float> predictor_rows(const Predictor& predictor, const Table& table,
                                         std::size_t rows) {
  const std::vector<Feature>& features = predictor.model().schema().features;
  std::vector<float> cells(rows * features.size());
  for (std::size_t f = 0; f < features.size(); ++f) {
    const Column& column = *table.find(features[f].name);
    std::vector<float> codes;
    for (const std::string& word : column.words) codes.push_back(predictor.code(f, word));
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t i = r % table.num_rows;
      float& cell = cells[r * features.size() + f];
      if (column.type == ColumnType::number) {
        cell = column.values()[i];
      } else if (column.codes[i] == kMissingCode) {
        cell = predictor.code(f, "");
      } else {
        cell = codes[static_cast<std::size_t>(column.codes[i])];
      }
    }
  }
  return cells;
}

}  // namespace espalier
