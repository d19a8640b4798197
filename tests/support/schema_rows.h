// SPDX-License-Identifier: Apache-2.0
// For tests: rows that any model can read and that reach its edges.
#pragma once

#include <cmath>
#include <limits>

#include "espalier/schema.h"
#include "espalier/table.h"

namespace espalier {

// The ends of the keypoints, their middle, beyond them, and missing; known and unknown words.
inline Table schema_rows(const Schema& schema) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Table table{.name = "rows", .num_rows = 6};
  for (const Feature& feature : schema.features) {
    Column column{.name = feature.name};
    if (feature.kind == FeatureKind::number) {
      const float first = feature.keypoints.front(), last = feature.keypoints.back();
      column.numbers = {first, last, NAN, -kInfinity, kInfinity, first / 2 + last / 2};
    } else {
      column.type = ColumnType::category;
      column.categories = {feature.categories.front(), feature.categories.back(),
                           "a word that nobody has seen"};
      column.codes = {0, 1, kMissingCode, 2, 0, 1};
    }
    table.columns.push_back(std::move(column));
  }
  for (const auto& [role, name] : schema.beside)
    table.columns.push_back({.name = name, .numbers = {1, 2, 0.5f, 3, 0.25f, 1}});
  return table;
}

}  // namespace espalier
