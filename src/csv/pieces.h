// SPDX-License-Identifier: Apache-2.0
// Reads text that arrives in blocks of bytes as tables of some rows each. A piece ends at the end
// of a row; the remaining bytes begin the next piece.
#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "csv/head.h"
#include "espalier/csv.h"

namespace espalier {

class PieceReader {
 public:
  /// Returns the next bytes, or nothing at the end. Another thread calls it, one call at a time.
  using Source = std::function<std::string()>;

  /// Options must outlive the object and must have been checked.
  PieceReader(Source source, const CsvOptions& options, std::string name, std::size_t piece_bytes);

  /// Reads the rows of a text with a known head, starting at this line. Head and text must outlive
  /// the object.
  PieceReader(std::string_view rows, const CsvHead& head, std::size_t line,
              const CsvOptions& options, std::string name, std::size_t piece_bytes);

  /// See CsvPieces::next.
  bool next(Table& piece);

  /// The names of all columns of the text. Call it after next.
  std::vector<std::string> columns() const;

 private:
  void read_ahead();
  void fill(std::size_t bytes);
  std::size_t begin(std::string_view text, bool is_all, Table& piece);
  std::size_t go_on(std::string_view text, bool is_all, Table& piece);

  Source source_;
  const CsvOptions& options_;
  const std::string name_;
  const std::size_t piece_bytes_;
  std::string text_;  // bytes that no piece has read yet
  bool is_all_ = false;
  std::optional<CsvHead> head_;
  std::size_t line_ = 1;            // line number at the start of text_
  std::size_t rows_ = 0;            // rows before text_
  std::future<std::string> ahead_;  // declared last: it ends before the source that it reads
};

/// The names of all columns of a text.
std::vector<std::string> names_of(const CsvHead& head);

/// Throws Error (data) unless a file has the same columns as the first file.
void require_same_columns(const std::vector<std::string>& own, const std::string& name,
                          const std::vector<std::string>& first, const std::string& first_name);

/// A file of a table, and its name in messages.
struct Shard {
  std::string path;
  std::string name;
};

/// The files of a path: a file, or "-"; all files of a folder except models and names that begin
/// with . or _; the files that match a pattern of * ? [ ], both sorted by name; or, for @LIST, the
/// files that the lines of LIST name, in their order. Throws Error (file) if there are none.
std::vector<Shard> shards_of(const std::string& path);

/// Reads several files with the same columns, one after another, in pieces.
class ShardReader {
 public:
  /// Throws Error (argument) for contradictory options.
  ShardReader(std::vector<Shard> shards, const CsvOptions& options, std::size_t piece_bytes);

  /// See CsvPieces::next.
  bool next(Table& piece);

 private:
  void open_next();
  void require_same_columns();

  const std::vector<Shard> shards_;
  const CsvOptions options_;
  const std::size_t piece_bytes_;
  std::size_t opened_ = 0;
  std::optional<PieceReader> reader_;
  std::vector<std::string> columns_;  // of the first file
};

}  // namespace espalier
