// SPDX-License-Identifier: Apache-2.0
// Reading and writing CSV files.
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

/// How to read a CSV file. The defaults read what spreadsheets, pandas and R write.
struct CsvOptions {
  /// Whether the first line (after skip_lines) has the column names. If not, set `columns`.
  bool header = true;
  /// The names of the columns of a file without a header.
  std::vector<std::string> columns;
  /// The character between fields; 0 picks the most frequent of , ; tab | in the first line.
  char delimiter = 0;
  /// Lines to skip before the header, or before the first row.
  int skip_lines = 0;
  /// Values that mean "missing" in addition to an empty field, NA, N/A, NaN, null (in any case) and
  /// ?.
  std::vector<std::string> missing;
  /// The same for single columns. 96 also matches 96.0.
  std::map<std::string, std::vector<std::string>> column_missing;
  /// Values that do not mean "missing" in single columns, such as NA for a grade or a country. An
  /// empty field is always missing.
  std::map<std::string, std::vector<std::string>> not_missing;
  /// The types of columns that are not inferred. A value of a numeric column that is not a number
  /// is then an error, and so is a name that the file does not have.
  std::map<std::string, ColumnType> types;
  /// Columns that the file may lack although `types` or `column_missing` name them.
  std::vector<std::string> optional;
  /// Columns to ignore.
  std::vector<std::string> drop;
  /// If not empty, only these columns are read. The file may lack some of them.
  std::vector<std::string> only;
  /// Numeric columns that also keep the text of their values, as categories and codes.
  std::vector<std::string> keep_text;
  /// How many threads read; 0 uses all cores. The table does not depend on it.
  int threads = 0;
};

/// Reads a table. `path` is one of:
///   a file, also compressed with gzip
///   "-" for standard input
///   a folder: all its files except models (.esp) and names that begin with . or _
///   a pattern with * ? or [ that is not the name of a file: all files that match
///   @LIST: the files that the lines of LIST name
/// Files of a folder or a pattern are read in the order of their names. All files must have the
/// same columns.
///
/// A column is numeric if each of its values is a number or missing, else categorical. A numeric
/// column also gets doubles if rounding to floats loses information (floats_blur). A column without
/// a name (the row index that pandas and R write) is ignored. Quoted fields may contain delimiters,
/// line breaks and doubled quotes. Spaces around unquoted fields, CRLF, a byte order mark and empty
/// lines at the end are accepted.
///
/// Throws Error (file) if the file cannot be read. Throws Error (data) with file, line and column
/// for a ragged row, duplicate column names, a value of the wrong type, binary content or a file
/// without rows.
Table read_csv(const std::string& path, const CsvOptions& options = {});

/// Reads a table in pieces of some rows. Memory does not grow with the number of rows.
///
///   espalier::CsvPieces pieces("large.csv", model.csv_options());
///   for (espalier::Table piece; pieces.next(piece);) use(model.predict(piece));
///
/// The pieces together are the table of read_csv, with two differences. Each piece has its own
/// category codes, and the type of a column that `types` does not name is inferred from each piece.
/// The next piece is read in the background.
class CsvPieces {
 public:
  /// `path` is that of read_csv. `piece_bytes` is the approximate size of a piece in bytes of text;
  /// 0 for a default. Throws as read_csv does.
  CsvPieces(const std::string& path, const CsvOptions& options, std::size_t piece_bytes = 0);
  ~CsvPieces();
  CsvPieces(const CsvPieces&) = delete;
  CsvPieces& operator=(const CsvPieces&) = delete;

  /// Reads the next piece, of at least one row. Returns false at the end. Throws as read_csv does.
  bool next(Table& piece);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The files that read_csv reads for a path, including LIST of @LIST. Throws Error (file) if there
/// are none.
std::vector<std::string> data_files(const std::string& path);

/// Whether read_csv would read `file`, if it existed, for a path that is a folder or a pattern.
bool would_be_data_file(const std::string& path, const std::string& file);

/// The approximate bytes of text of a path of read_csv: the sizes of its files, times six for gzip;
/// 0 for standard input.
std::uint64_t text_bytes(const std::string& path);

/// Like read_csv, for tables larger than memory: the columns are memory-mapped files. The text is
/// read once, or twice if a column turns out to be categorical late. If `to` keeps tables and has
/// this one, and neither the files nor the options changed, no text is read. Throws as read_csv
/// does, and Error (file) if the folder cannot be written or a file changes while it is read. Any
/// number of threads and processes may share a folder. `piece_bytes` is that of CsvPieces; several
/// pieces are in memory at a time.
Table read_csv_to_disk(const std::string& path, const CsvOptions& options, const DiskFolder& to,
                       std::size_t piece_bytes = 0);

/// Reads the rows_of_rank of a table that several ranks read together. Types and categories are
/// those of all rows. Returns nothing for tables below 2^22 rows, gzip files and pipes: each rank
/// must then read all rows. An empty folder path means memory; a folder that keeps tables keeps the
/// rows of each rank separately. All ranks must call it. Throws as read_csv_to_disk does, and Error
/// (data) if the ranks have different files.
std::optional<Table> read_csv_of_rank(const std::string& path, const CsvOptions& options,
                                      const DiskFolder& to, Ranks& ranks,
                                      std::size_t piece_bytes = 0);

/// Like read_csv, from text in memory. Messages use `name` for the file.
Table parse_csv(std::string_view text, const CsvOptions& options = {},
                std::string_view name = "text");

/// Whether a text means "missing" by default: empty, NA, N/A, NaN, null (in any case) or ?. Other
/// code that fills tables should use it too.
bool means_missing(std::string_view cell) noexcept;

/// The same for a column with exceptions: `missing` are missing, `not_missing` are not.
bool means_missing(std::string_view cell, const std::vector<std::string>& missing,
                   const std::vector<std::string>& not_missing) noexcept;

/// Writes a table as CSV with a header. Missing values are empty. Numbers have the fewest digits
/// that read back to the same float, or to the same double if the column has doubles. Throws Error
/// (argument) if a column does not have num_rows values or a code has no category, and Error (file)
/// if the stream fails.
void write_csv(const Table& table, std::ostream& out);

/// The same to a function that takes the text in pieces. Its exceptions pass through.
void write_csv(const Table& table, const std::function<void(std::string_view)>& write);

/// The same for a table in pieces with the same columns, on several threads; 0 uses all cores.
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
