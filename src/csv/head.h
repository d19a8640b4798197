// SPDX-License-Identifier: Apache-2.0
// The part of a file before its rows: skipped lines, the delimiter and the column names. Decides
// which columns to read, and how.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "csv/column.h"
#include "csv/scanner.h"
#include "espalier/csv.h"

namespace espalier {

/// Throws Error (argument) for contradictory options.
void check_options(const CsvOptions& options);

class CsvHead {
 public:
  /// Options and name must outlive the object. Throws Error (data) for text that is not CSV, and
  /// for columns that do not match the options.
  CsvHead(std::string_view text, const CsvOptions& options, std::string_view name);

  /// A scanner at the first row. The text must outlive it.
  const CsvScanner& rows() const { return rows_; }

  /// The whole text, before any row is read.
  const std::vector<ColumnReader>& columns() const { return columns_; }

  /// Reads the rows from the scanner's position into a table of the wanted columns. `chunk_bytes` 0
  /// uses a default. Throws Error (data) if there are no rows.
  Table read(const CsvScanner& rows, std::size_t chunk_bytes) const;

 private:
  using NameSet = std::unordered_set<std::string>;

  [[noreturn]] void fail(std::string_view what) const;
  CsvScanner open(std::string_view text) const;
  void read_header();
  void check_names();
  void choose_columns();
  std::vector<std::string> missing_words(const std::string& column) const;
  std::vector<std::string> not_missing_words(const std::string& column) const;
  void require_column(const std::string& wanted) const;

  const CsvOptions& options_;
  std::string_view name_;
  CsvScanner rows_;
  std::vector<ColumnReader> columns_;
  NameSet names_;
};

/// How many bytes of an incomplete text are its head and complete rows, with at least one row that
/// is not blank; 0 if there is no such row yet.
std::size_t whole_head_and_rows(std::string_view text, const CsvOptions& options);

}  // namespace espalier
