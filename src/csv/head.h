// SPDX-License-Identifier: Apache-2.0
// What comes before the rows of a text: lines to skip, the delimiter, the names of the columns, and
// which of them are wanted, and how.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "csv/column.h"
#include "csv/scanner.h"
#include "espalier/csv.h"

namespace espalier {

/// Throws Error (argument) for options that do not fit together.
void check_options(const CsvOptions& options);

class CsvHead {
 public:
  /// Options and name must outlive it. Throws Error (data) for a text that is none, and for columns
  /// that do not suit the options.
  CsvHead(std::string_view text, const CsvOptions& options, std::string_view name);

  /// At the first row, for as long as the text is there.
  const CsvScanner& rows() const { return rows_; }

  /// All of the text, before any row is read.
  const std::vector<ColumnReader>& columns() const { return columns_; }

  /// The rows from where the scanner is, as a table of the wanted columns; 0 bytes choose. Throws
  /// Error (data) if there are none.
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

/// How many bytes from the beginning of a text that goes on are its head and whole rows, at least
/// one that is not blank; 0 if it holds no such row yet.
std::size_t whole_head_and_rows(std::string_view text, const CsvOptions& options);

}  // namespace espalier
