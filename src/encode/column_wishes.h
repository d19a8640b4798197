// SPDX-License-Identifier: Apache-2.0
// What the options say of single columns: their directions and the orders of their words.
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

/// By column. Throws Error (argument) for a column that is not there, is the label or the weight,
/// or has two directions.
Directions read_directions(const Table& table, const ColumnIndex& columns,
                           const TrainOptions& options);

/// Of classes without an order: directions are wanted of the probability of a class,
/// "class:column".
struct ClassDirections {
  Directions columns;                  // of which the first class with a promise rises or falls
  std::vector<Monotonicity> promises;  // of each class along an increasing column; empty if none
};
/// Throws Error (argument) as read_directions, for a class that is not there, and for promises that
/// contradict each other or differ between columns.
ClassDirections read_class_directions(const Table& table, const ColumnIndex& columns,
                                      const TrainOptions& options,
                                      const std::vector<std::string>& classes);

/// The words of each column that has an order, from low to high. Throws Error (argument) for what
/// is no order, and for a word that means "missing" in its column.
Orders read_orders(const Table& table, const ColumnIndex& columns, const TrainOptions& options);

/// S, M and L of "S<M<L"; and whether words are all different, none of them empty.
std::vector<std::string> split_order(std::string_view text);
bool are_distinct(const std::vector<std::string>& categories);

}  // namespace espalier
