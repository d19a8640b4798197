// SPDX-License-Identifier: Apache-2.0
// Reading and writing tables as comma-separated values.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/disk_table.h"
#include "espalier/table.h"

namespace espalier {

class Ranks;

/// How to read a file of values. The defaults read what spreadsheets, pandas and R write.
struct CsvOptions {
  /// Whether the first line (after skip_lines) names the columns. If not, `columns` must.
  bool header = true;
  /// The names of the columns of a file without a header.
  std::vector<std::string> columns;
  /// The character between cells; 0 picks the most frequent of , ; tab | in the first line.
  char delimiter = 0;
  /// Lines to pass over before the header, or before the first row.
  int skip_lines = 0;
  /// Words that mean "missing" beyond the usual ones (an empty cell, NA, N/A, NaN, null in any
  /// case, ?).
  std::vector<std::string> missing;
  /// The same for single columns. 96 also matches 96.0.
  std::map<std::string, std::vector<std::string>> column_missing;
  /// Words that do not mean "missing" in single columns, though they do elsewhere: NA where it is a
  /// grade or a country. An empty cell is always missing.
  std::map<std::string, std::vector<std::string>> not_missing;
  /// Columns whose type is not left to inference. A cell of a number column that is not a number
  /// is then an error. A name that the file does not have is an error too.
  std::map<std::string, ColumnType> types;
  /// Columns that the file may lack although `types` or the words for missing name them.
  std::vector<std::string> optional;
  /// Columns to leave out.
  std::vector<std::string> drop;
  /// If not empty, only these columns are read, those of them that the file has.
  std::vector<std::string> only;
  /// Number columns that keep the text of their cells too, as words and codes.
  std::vector<std::string> keep_text;
  /// How many threads read; 0 uses all cores. The table does not depend on it.
  int threads = 0;
};

/// Reads a table. `path` may be "-" for standard input; gzip is recognised by its first bytes. A
/// folder stands for all its files but models (.esp) and those whose names begin with . or _, and a
/// path with
/// * ? or [ that is no file for all that match it, both in the order of their names; @LIST stands
/// for the files that the lines of LIST name. They must have the same columns.
///
/// A column is a number column if each of its cells is a number or missing, else a category column.
/// It has doubles besides its floats where those blur its numbers (floats_blur).
/// A column without a name (the row index that pandas and R write) is left out. Quotes may hold
/// delimiters, newlines and doubled quotes; spaces around unquoted cells are dropped; CRLF, a byte
/// order mark and empty lines at the end are accepted.
///
/// Throws Error (file) if it cannot be read, and Error (data) with file, line and column for a
/// ragged row, duplicate column names, a cell that is not of the wanted type, binary content or no
/// rows.
Table read_csv(const std::string& path, const CsvOptions& options = {});

/// A table that comes in pieces of some rows, in memory that does not grow with it.
///
///   espalier::CsvPieces pieces("large.csv", model.csv_options());
///   for (espalier::Table piece; pieces.next(piece);) use(model.predict(piece));
///
/// The pieces behind each other are the table of read_csv, but each numbers its words by itself;
/// and columns that `types` does not name have the type that their piece shows. The next piece is
/// read while this one is used.
class CsvPieces {
 public:
  /// `path` as for read_csv. Pieces have about that many bytes of text; 0 chooses. Throws as
  /// read_csv does.
  CsvPieces(const std::string& path, const CsvOptions& options, std::size_t piece_bytes = 0);
  ~CsvPieces();
  CsvPieces(const CsvPieces&) = delete;
  CsvPieces& operator=(const CsvPieces&) = delete;

  /// The next rows, at least one; false at the end. Throws as read_csv does, for the first error.
  bool next(Table& piece);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The files that a path of read_csv stands for, and LIST itself of @LIST. Throws Error (file) if
/// it stands for none.
std::vector<std::string> data_files(const std::string& path);

/// Whether a path of read_csv that is a folder or a pattern stands for a file of this name, if
/// there is one.
bool would_be_data_file(const std::string& path, const std::string& file);

/// About how many bytes of text a path of read_csv stands for: the sizes of its files, six times
/// those of gzip; 0 for standard input.
std::uint64_t text_bytes(const std::string& path);

/// A table that is larger than memory: read_csv, but its columns are files that are mapped, and
/// memory does not grow with them. The text is read once, or twice where a column shows its first
/// word late. A folder that keeps tables is asked first: if it has this one, and neither the files
/// nor the options have changed, no text is read. Throws as read_csv does, and Error (file) if the
/// folder cannot be written or a file changes while it is read. Any number of threads and processes
/// may share a folder. Pieces have about that many bytes of text, 0 chooses; memory for some of
/// them is taken.
Table read_csv_to_disk(const std::string& path, const CsvOptions& options, const DiskFolder& to,
                       std::size_t piece_bytes = 0);

/// What a rank has of a table that several read together: its rows_of_rank, as train() takes them,
/// with the types and words of all rows. Nothing if the table has fewer than 2^22 rows, or files
/// that cannot be read from the middle, gzip or a pipe: then each rank reads all of it. A folder
/// without a name stands for memory; one that keeps tables keeps the rows of each rank by
/// themselves. All ranks call it. Throws as read_csv_to_disk does, and Error (data) if the files
/// are not the same for all.
std::optional<Table> read_csv_of_rank(const std::string& path, const CsvOptions& options,
                                      const DiskFolder& to, Ranks& ranks,
                                      std::size_t piece_bytes = 0);

/// read_csv from text in memory; `name` stands for the file in messages.
Table parse_csv(std::string_view text, const CsvOptions& options = {},
                std::string_view name = "text");

/// Whether a cell means "missing" in every file: empty, or NA, N/A, NaN, null in any case, or ?.
/// Other makers of tables should agree, so that a model means the same to all of them.
bool means_missing(std::string_view cell) noexcept;

/// The same in a column that has such words of its own: `missing` do mean so, `not_missing` do not.
bool means_missing(std::string_view cell, const std::vector<std::string>& missing,
                   const std::vector<std::string>& not_missing) noexcept;

/// Writes a table as CSV with a header; missing cells are empty, numbers have the fewest digits
/// that read back to the same float (to the same double where the column has those), cells are
/// quoted where they must be. Throws Error (argument) if a column has not num_rows cells or a code
/// without a word, and Error (file) if the stream fails.
void write_csv(const Table& table, std::ostream& out);

/// The same by a function that takes the text piece by piece; what it throws comes through.
void write_csv(const Table& table, const std::function<void(std::string_view)>& write);

/// The same for a table that comes in pieces of the same columns, by several threads; 0 uses all
/// cores.
class CsvWriter {
 public:
  explicit CsvWriter(std::function<void(std::string_view)> write, int threads = 0);
  ~CsvWriter();

  void add(const Table& piece);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
