// SPDX-License-Identifier: Apache-2.0
// A dataset in memory, column by column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

enum class ColumnType { number, category };

/// The code of a missing value in a categorical column.
inline constexpr std::int32_t kMissingCode = -1;

/// One column. A numeric column has `numbers`, a categorical column has `categories` and `codes`. A
/// numeric column may have these too, for the text of its values. Instead, the borrowed spans may
/// point to memory that outlives the table.
struct Column {
  std::string name;
  ColumnType type = ColumnType::number;
  std::vector<float> numbers;            ///< one per row; NaN is missing
  std::span<const float> borrowed;       ///< instead of numbers
  std::vector<double> exact;             ///< the numbers as doubles if floats_blur, else empty
  std::vector<std::string> categories;   ///< distinct values, in order of first appearance
  std::vector<std::int32_t> codes;       ///< one per row: index into categories, or kMissingCode
  std::vector<std::string> missing;      ///< values that mean "missing", besides the defaults
  std::vector<std::string> not_missing;  ///< defaults that do not mean "missing" here
  std::span<const double> borrowed_exact = {};        ///< instead of exact
  std::span<const std::int32_t> borrowed_codes = {};  ///< instead of codes

  /// The values of a numeric column, owned or borrowed.
  std::span<const float> values() const noexcept {
    return borrowed.empty() ? std::span<const float>(numbers) : borrowed;
  }

  std::span<const double> doubles() const noexcept {
    return borrowed_exact.empty() ? std::span<const double>(exact) : borrowed_exact;
  }
  std::span<const std::int32_t> category_codes() const noexcept {
    return borrowed_codes.empty() ? std::span<const std::int32_t>(codes) : borrowed_codes;
  }

  /// A value of a numeric column, as a double if the column has doubles.
  double number(std::size_t row) const noexcept {
    const std::span<const double> exactly = doubles();
    return exactly.empty() ? static_cast<double>(values()[row]) : exactly[row];
  }
};

struct Table {
  std::string name;  ///< the source, for messages: a file name
  std::vector<Column> columns;
  std::size_t num_rows = 0;
  std::size_t first_row = 0;                ///< of a piece of a file: the number of rows before it
  std::shared_ptr<const void> memory = {};  ///< memory that columns borrow, if the table owns it

  /// The column of this name, or nullptr.
  const Column* find(std::string_view column_name) const noexcept {
    for (const Column& column : columns) {
      if (column.name == column_name) return &column;
    }
    return nullptr;
  }
};

/// Whether rounding numbers to floats may have lost differences that matter: the floats are close
/// together relative to their size, have at most two distinct values, or are infinite. Code that
/// fills tables should then set `exact` too, so that rounding does not change the meaning of a
/// label.
bool floats_blur(std::span<const float> rounded) noexcept;

/// A copy of some rows, in the given order; rows may repeat. Each must be less than num_rows.
Table take_rows(const Table& table, std::span<const std::uint64_t> rows);

}  // namespace espalier
