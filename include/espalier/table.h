// SPDX-License-Identifier: Apache-2.0
// A table in memory, column by column, before it meets a model.
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

/// The code of a missing cell in a category column.
inline constexpr std::int32_t kMissingCode = -1;

/// One column. A number column fills `numbers`, a category column fills `words` and `codes`; a
/// number column may have these too, for what its cells looked like. Instead of filling them, the
/// borrowed spans may point at memory that outlives the table.
struct Column {
  std::string name;
  ColumnType type = ColumnType::number;
  std::vector<float> numbers;           ///< one per row; NaN is missing
  std::span<const float> borrowed;      ///< the same in other memory, instead of numbers
  std::vector<double> exact;            ///< the same as doubles, where floats_blur them; else empty
  std::vector<std::string> categories;  ///< the distinct words, in order of first appearance
  std::vector<std::int32_t> codes;      ///< one per row: an index into words, or kMissingCode
  std::vector<std::string> missing;     ///< words that meant "missing" here beyond the usual ones
  std::vector<std::string> not_missing;         ///< usual ones, and of all columns, that did not
  std::span<const double> borrowed_exact = {};  ///< instead of exact
  std::span<const std::int32_t> borrowed_codes = {};  ///< instead of codes

  /// The cells of a number column, wherever they are.
  std::span<const float> values() const noexcept {
    return borrowed.empty() ? std::span<const float>(numbers) : borrowed;
  }

  std::span<const double> doubles() const noexcept {
    return borrowed_exact.empty() ? std::span<const double>(exact) : borrowed_exact;
  }
  std::span<const std::int32_t> category_codes() const noexcept {
    return borrowed_codes.empty() ? std::span<const std::int32_t>(codes) : borrowed_codes;
  }

  /// A cell of a number column, as exactly as the table has it.
  double number(std::size_t row) const noexcept {
    const std::span<const double> exactly = doubles();
    return exactly.empty() ? static_cast<double>(values()[row]) : exactly[row];
  }
};

struct Table {
  std::string name;  ///< where it came from, for messages: a file name
  std::vector<Column> columns;
  std::size_t num_rows = 0;
  std::size_t first_row = 0;                ///< of a piece of a file: the rows that came before it
  std::shared_ptr<const void> memory = {};  ///< what columns borrow from, if the table owns it

  /// The column of that name, or nullptr.
  const Column* find(std::string_view column_name) const noexcept {
    for (const Column& column : columns) {
      if (column.name == column_name) return &column;
    }
    return nullptr;
  }
};

/// Whether floats that were rounded from other numbers may have lost what tells those apart: they
/// lie close together beside their size, have two values or one, or one that no float can hold.
/// Makers of tables then fill `exact` too, so that no rounding decides what a label means.
bool floats_blur(std::span<const float> rounded) noexcept;

/// A copy of some rows, in the order given; a row may come more than once. Requires each to be less
/// than num_rows.
Table take_rows(const Table& table, std::span<const std::uint64_t> rows);

}  // namespace espalier
