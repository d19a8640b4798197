// SPDX-License-Identifier: Apache-2.0
// The options of single columns: directions and orders of categories.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "encode/encode.h"
#include "espalier/options.h"
#include "espalier/schema.h"
#include "espalier/table.h"

namespace espalier {

using Directions = std::unordered_map<std::string, Monotonicity>;
using Orders = std::unordered_map<std::string, std::vector<std::string>>;

/// Directions by column. Throws Error (argument) for a column that is absent, is the label or the
/// weight, or has two directions.
Directions read_directions(const Table& table, const ColumnIndex& columns,
                           const TrainOptions& options);

/// Multiclass models: directions apply to the probability of a class, "class:column".
struct ClassDirections {
  Directions columns;                  // of the first class with a direction
  std::vector<Monotonicity> promises;  // of each class in an increasing column; empty if none
};
/// Throws Error (argument) as read_directions, for an unknown class, and for directions that
/// contradict each other or differ between columns.
ClassDirections read_class_directions(const Table& table, const ColumnIndex& columns,
                                      const TrainOptions& options,
                                      const std::vector<std::string>& classes);

/// The categories of each ordered column, from low to high. Throws Error (argument) for invalid
/// syntax, and for a category that means "missing" in its column.
Orders read_orders(const Table& table, const ColumnIndex& columns, const TrainOptions& options);

/// S, M and L of "S<M<L"; and whether the categories are distinct and not empty.
std::vector<std::string> split_order(std::string_view text);
bool are_distinct(const std::vector<std::string>& categories);

}  // namespace espalier
