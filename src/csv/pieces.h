// SPDX-License-Identifier: Apache-2.0
// The rows of a text that comes in blocks of bytes, as tables of some rows each. A piece ends where
// a row does: whatever is left of the bytes begins the next one.
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
  /// Gives the next bytes, none at the end. It is called by another thread, one call at a time.
  using Source = std::function<std::string()>;

  /// Options must outlive it, and have been checked.
  PieceReader(Source source, const CsvOptions& options, std::string name, std::size_t piece_bytes);

  /// Rows of a text whose head is known, from that line on; they outlive it.
  PieceReader(std::string_view rows, const CsvHead& head, std::size_t line,
              const CsvOptions& options, std::string name, std::size_t piece_bytes);

  /// As CsvPieces::next.
  bool next(Table& piece);

  /// The names of all columns of the text; to be called behind next.
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
  std::string text_;  // that no piece had yet
  bool is_all_ = false;
  std::optional<CsvHead> head_;
  std::size_t line_ = 1;            // of the first of text_
  std::size_t rows_ = 0;            // before it
  std::future<std::string> ahead_;  // the last, so that it ends before what it reads from
};

/// The names of all columns of a text.
std::vector<std::string> names_of(const CsvHead& head);

/// Throws Error (data) unless the columns of a file are those of the first.
void require_same_columns(const std::vector<std::string>& own, const std::string& name,
                          const std::vector<std::string>& first, const std::string& first_name);

/// A file of a table, and what messages call it.
struct Shard {
  std::string path;
  std::string name;
};

/// The files that a path stands for: a file, or "-"; all files of a folder but models and those
/// whose names begin with . or _; those that a pattern of * ? [ ] matches, both by name; or, of
/// @LIST, those that the lines of a file name, in their order. Throws Error (file) if there are
/// none.
std::vector<Shard> shards_of(const std::string& path);

/// The pieces of several files with the same columns, one file after another.
class ShardReader {
 public:
  /// Throws Error (argument) for options that do not fit together.
  ShardReader(std::vector<Shard> shards, const CsvOptions& options, std::size_t piece_bytes);

  /// As CsvPieces::next.
  bool next(Table& piece);

 private:
  void open_next();
  void require_same_columns();

  const std::vector<Shard> shards_;
  const CsvOptions options_;
  const std::size_t piece_bytes_;
  std::size_t opened_ = 0;
  std::optional<PieceReader> reader_;
  std::vector<std::string> columns_;  // of the first
};

}  // namespace espalier
