// SPDX-License-Identifier: Apache-2.0
// Writes the columns of a table piece by piece, to files or to memory.
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

/// The file of the values of a column: `kind` is numbers, exact or codes.
std::string column_file(const std::string& folder, std::size_t column, std::string_view kind);

/// Writes one column piece by piece, to files or, without a folder, to memory.
class ColumnWriter {
 public:
  ColumnWriter(std::string folder, std::size_t index);

  /// Throws Error (file), and Error (data) for too many categories; `table` is for messages.
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
  bool had_exact_ = false;  // a piece had numbers that are not floats
};

/// Writes all columns of a table.
class PieceWriter {
 public:
  explicit PieceWriter(std::string folder) : folder_(std::move(folder)) {}

  /// Throws as ColumnWriter::add, and Error (data) if names or types differ from the first piece.
  void add(const Table& piece);

  /// Discards all pieces and deletes their files.
  void clear();

  /// The columns and their number of rows; the source is empty.
  StoredTable finish();

 private:
  void require_same_columns(const Table& piece) const;

  const std::string folder_;
  std::vector<ColumnWriter> writers_;
  std::vector<std::pair<std::string, ColumnType>> columns_;  // of the first piece
  std::uint64_t num_rows_ = 0;
};

}  // namespace espalier
