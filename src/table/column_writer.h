// SPDX-License-Identifier: Apache-2.0
// The columns of a table that comes in pieces, written behind each other to files or to memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "csv/category_index.h"
#include "espalier/table.h"
#include "table/float_blur.h"
#include "table/stored_table.h"

namespace espalier {

/// Where the cells of a column lie: `kind` is numbers, exact or codes.
std::string column_file(const std::string& folder, std::size_t column, std::string_view kind);

/// One column while it is written, piece by piece, to files or, without a folder, to memory.
class ColumnWriter {
 public:
  ColumnWriter(std::string folder, std::size_t index);

  /// Throws Error (file), or Error (data) if there are too many words; `table` is for messages.
  void add(const Column& piece, const std::string& table);

  StoredColumn finish();

 private:
  void add_exact(const Column& piece);
  void add_codes(const Column& piece, const std::string& table);
  template <class T>
  void append(std::string_view kind, std::span<const T> cells, std::vector<T>& in_memory);
  template <class T>
  void remove(std::string_view kind, std::vector<T>& in_memory);

  const std::string folder_;
  const std::size_t index_;
  Column column_;
  CategoryIndex categories_;
  FloatBlur blur_;
  bool keeps_exact_ = true;
  bool had_exact_ = false;  // a piece had numbers that are no floats
};

/// All columns of a table.
class PieceWriter {
 public:
  explicit PieceWriter(std::string folder) : folder_(std::move(folder)) {}

  /// Throws as ColumnWriter::add, and Error (data) if names or types are not those of the first
  /// piece.
  void add(const Table& piece);

  /// Forgets all pieces, and removes their files.
  void clear();

  /// The columns and how many rows they have; the source is empty.
  StoredTable finish();

 private:
  void require_same_columns(const Table& piece) const;

  const std::string folder_;
  std::vector<ColumnWriter> writers_;
  std::vector<std::pair<std::string, ColumnType>> columns_;  // of the first piece
  std::uint64_t num_rows_ = 0;
};

}  // namespace espalier
