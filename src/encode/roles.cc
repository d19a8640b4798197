// SPDX-License-Identifier: Apache-2.0
#include "encode/roles.h"

#include <fmt/format.h>

#include <cmath>

#include "encode/encode.h"
#include "espalier/error.h"

namespace espalier {

namespace {

// The column that the options name for a role; empty if there is none.
const std::string& column_of(Role role, const TrainOptions& options) {
  switch (role) {
    case Role::weight:
      return options.weight;
    case Role::exposure:
      return options.exposure;
    case Role::offset:
      return options.offset;
    case Role::feature:
    case Role::label:
      break;
  }
  return options.label;
}

}  // namespace

std::string_view wanted_of(Role role, float number) {
  switch (role) {
    case Role::weight:
      return std::isfinite(number) && number >= 0 ? "" : "0 or more";
    case Role::exposure:
      return std::isfinite(number) && number > 0 ? "" : "more than 0";
    case Role::offset:
      return std::isfinite(number) ? "" : "a finite number";
    case Role::feature:
    case Role::label:
      break;
  }
  return "";
}

SideColumns side_columns(const TrainOptions& options) {
  SideColumns columns;
  for (const Role role : kSideRoles) {
    const std::string& column = column_of(role, options);
    if (column.empty()) continue;
    const auto fail = [&](std::string_view other) {
      throw Error(ErrorKind::argument,
                  fmt::format("{}: '{}' is the {}", to_word(role), column, other));
    };
    if (column == options.label) fail("label");
    for (const auto& [taken, name] : columns) {
      if (name == column) fail(to_word(taken));
    }
    columns[role] = column;
  }
  return columns;
}

std::vector<std::pair<Role, std::string>> prediction_columns(const SideColumns& columns) {
  std::vector<std::pair<Role, std::string>> found;
  for (const Role role : kPredictionRoles) {
    if (const auto column = columns.find(role); column != columns.end()) found.push_back(*column);
  }
  return found;
}

Role role_of(const std::string& column, const TrainOptions& options) {
  if (column == options.label) return Role::label;
  for (const Role role : kSideRoles) {
    if (!column.empty() && column == column_of(role, options)) return role;
  }
  return Role::feature;
}

Rows weighted_rows(const Table& table, const std::string& weight) {
  Rows rows = all_rows(table);
  const Column* const column = weight.empty() ? nullptr : table.find(weight);
  if (column == nullptr || column->type != ColumnType::number || rows.empty()) return rows;
  std::erase_if(rows, [&](std::uint64_t row) { return column->values()[row] == 0; });
  if (!rows.empty()) return rows;
  fail_column(table, weight,
              fmt::format("the weight is 0 in all {} rows; wanted a weight above 0 in at least one",
                          table.num_rows));
}

LargeVector<float> encode_side_column(Role role, const std::string& name, const Table& table,
                                      const Rows& rows) {
  const Column& column = require_numbers(table, name);
  LargeVector<float> cells;
  cells.reserve(rows.size());
  double total = 0;
  for (const std::uint64_t row : rows) {
    const float cell = column.values()[row];
    if (const std::string_view wanted = wanted_of(role, cell); !wanted.empty()) {
      fail_column(table, name,
                  fmt::format("row {}: {} is no {}; wanted {}", table.first_row + row + 1, cell,
                              to_word(role), wanted));
    }
    cells.push_back(cell);
    total += cell;
  }
  if (role == Role::weight && !rows.empty() && total <= 0)
    fail_column(table, name, "all weights are 0");
  return cells;
}

LargeVector<float> any_side_column(const std::string& name, const Table& table) {
  const std::span<const float> numbers = require_numbers(table, name).values();
  return {numbers.begin(), numbers.end()};
}

Dataset encode_to_predict(const Schema& schema, const Table& table) {
  const Rows rows = all_rows(table);
  Dataset data = encode_features(schema, table, rows);
  for (const auto& [role, name] : prediction_columns(schema.beside)) {
    if (role == Role::exposure && table.find(name) == nullptr) continue;
    data.beside[role] = any_side_column(name, table);
  }
  return data;
}

void encode_beside(const SideColumns& columns, const Table& table, const Rows& rows,
                   Dataset& data) {
  for (const auto& [role, name] : columns)
    data.beside[role] = encode_side_column(role, name, table, rows);
}

}  // namespace espalier
