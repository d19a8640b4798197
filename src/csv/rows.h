// SPDX-License-Identifier: Apache-2.0
// Reads rows into columns on several threads, with the result of reading from top to bottom.
//
// The text is cut into chunks at line breaks. A line break may be inside quotes, which is unknown
// until all text before it has been read. Each chunk assumes that the line break before it ends a
// row, and reports where the row after its last one begins. If that is not the start of the next
// chunk, the next chunk is read again from there. Errors work in the same way: the first chunk that
// fails is read again once its line numbers are known.
#pragma once

#include <string_view>
#include <vector>

#include "core/thread_pool.h"
#include "csv/column.h"
#include "csv/scanner.h"
#include "espalier/csv.h"

namespace espalier {

class RowReader {
 public:
  struct Places {
    std::string_view file;   // for messages
    std::string_view names;  // the source of the column names, for messages
  };

  /// `rows` is at the first row. Columns and names must outlive the reader.
  RowReader(const CsvScanner& rows, std::vector<ColumnReader>& columns, const Places& places)
      : rows_(rows), columns_(columns), places_(places) {}

  /// Reads some of the first rows to see which columns are categorical. Returns the number of rows.
  std::size_t guess();

  /// Fills the columns and returns the number of rows. `chunk_bytes` is the approximate size of a
  /// chunk, 0 for a default; the values do not depend on it. Throws Error (data) for the first row
  /// with too many or too few fields, or with text in a numeric column.
  std::size_t read(int threads, std::size_t chunk_bytes);

 private:
  struct Chunk {
    const char* begin = nullptr;  // its first row, if that is not within quotes
    const char* end = nullptr;    // the chunk has the rows that begin before
    std::size_t first_row = 0;    // index of its first row in the columns
    std::size_t max_rows = 0;
    std::vector<ColumnPart> parts = {};  // one per column
    // Results of a pass.
    std::size_t num_rows = 0;
    std::size_t num_lines = 0;
    const char* next_row = nullptr;
    bool has_failed = false;
  };

  std::vector<Chunk> cut(std::size_t chunk_bytes) const;
  std::size_t most_rows(const Chunk& chunk) const;
  void walk(std::vector<Chunk>& chunks, ThreadPool& pool);
  void walk(Chunk& chunk, std::size_t line);
  void read_row(CsvScanner& scanner, Chunk& chunk);
  bool finish_column(std::size_t column, std::vector<Chunk>& chunks);
  [[noreturn]] void fail_ragged(CsvScanner& scanner, std::size_t num_cells, bool at_end) const;
  [[noreturn]] void fail_number(const CsvScanner& scanner, std::string_view column,
                                std::string_view text) const;
  [[noreturn]] void fail(std::size_t line, std::string_view what) const;

  const CsvScanner rows_;
  std::vector<ColumnReader>& columns_;
  const Places places_;
};

/// parse_csv with a given chunk size, for tests.
Table parse_csv_in_chunks(std::string_view text, const CsvOptions& options, std::string_view name,
                          std::size_t chunk_bytes);

}  // namespace espalier
