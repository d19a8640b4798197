// SPDX-License-Identifier: Apache-2.0
// The rows of a text into columns, on several threads, as if one had read them from top to bottom.
//
// The text is cut into chunks at line breaks. Whether such a break ends a row or lies within quotes
// is not known before all that comes before it is read, so it is taken to end one, and checked when
// all chunks are read: each says where the row after its last one begins, and a chunk that began
// elsewhere is read again from there. The same goes for errors: the first chunk in which reading
// fails is read again when the numbers of its lines are known.
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
    std::string_view names;  // where the names of the columns come from, for messages
  };

  /// `rows` is at the first row. Columns and names must outlive the reader.
  RowReader(const CsvScanner& rows, std::vector<ColumnReader>& columns, const Places& places)
      : rows_(rows), columns_(columns), places_(places) {}

  /// Reads some of the first rows, only to see which columns have words; returns how many.
  std::size_t guess();

  /// Fills the columns and returns the number of rows. Chunks have that many bytes or a few more; 0
  /// chooses, and any number gives the same cells. Throws Error (data) for the first row that
  /// has too many or too few cells or no number where it must.
  std::size_t read(int threads, std::size_t chunk_bytes);

 private:
  struct Chunk {
    const char* begin = nullptr;  // its first row, if it is not within quotes
    const char* end = nullptr;    // rows that begin before it are those of the chunk
    std::size_t first_row = 0;    // of the room for its cells
    std::size_t max_rows = 0;
    std::vector<ColumnPart> parts = {};  // one per column
    // What a walk has found.
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

/// parse_csv with chunks of a given size, for tests.
Table parse_csv_in_chunks(std::string_view text, const CsvOptions& options, std::string_view name,
                          std::size_t chunk_bytes);

}  // namespace espalier
