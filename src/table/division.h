// SPDX-License-Identifier: Apache-2.0
// Divides the rows of text files among several ranks that read them together.
//
// Each rank counts the rows of a range of bytes; all ranges have the same length. A range begins at
// a line break, which may be inside quotes; this is unknown until all text before it has been read.
// So each rank assumes that the line break ends a row, and all ranks exchange where the row after
// their last one begins. A rank that began elsewhere counts again, as the chunks of csv/rows.h do.
// Then all ranks know the number of rows, and the rank that counted the first row of another rank
// tells where that row is.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/file.h"
#include "csv/head.h"
#include "csv/pieces.h"
#include "espalier/csv.h"
#include "espalier/ranks.h"

namespace espalier {

/// The start of a row; the end of the last file if there is none.
struct TextPlace {
  std::uint64_t file = 0;
  std::uint64_t byte = 0;
  std::uint64_t line = 0;  // line number in the file, from 1

  bool is_at(const TextPlace& other) const { return file == other.file && byte == other.byte; }
  bool is_before(const TextPlace& other) const {
    return file < other.file || (file == other.file && byte < other.byte);
  }
};

/// A range of rows of one file.
struct TextPart {
  std::uint64_t file;
  std::uint64_t begin, end;  // bytes
  std::uint64_t line;        // line number of the first row
};

/// The rows of a rank.
struct RankText {
  std::uint64_t all_rows = 0;
  std::uint64_t first_row = 0;
  std::uint64_t num_rows = 0;
  std::vector<TextPart> parts;
};

class DividedText {
 public:
  /// Throws Error (data, file) for files that are not CSV. The options must outlive the object.
  DividedText(std::vector<Shard> shards, const CsvOptions& options);

  /// The rows of this rank, as rows_of_rank defines them. All ranks call it, with the same files.
  RankText divide(Ranks& ranks) const;

  /// Reads a range of rows piece by piece.
  PieceReader read(const TextPart& part, const CsvOptions& options, std::size_t piece_bytes) const;

 private:
  struct Text {
    FileBytes bytes;
    TextPlace begin;        // of the first row
    std::uint64_t end = 0;  // of the last row
    char delimiter = ',';
  };
  struct Walk {
    TextPlace begin, end;
    std::uint64_t rows = 0;
  };

  std::string_view head_of(std::string_view text) const;
  TextPlace begin_of(std::uint64_t file) const;
  TextPlace guess(std::uint64_t offset) const;
  std::vector<TextPart> parts_between(const TextPlace& begin, const TextPlace& end) const;
  std::vector<Walk> count(Ranks& ranks) const;
  Walk walk(const TextPlace& begin, const TextPlace& until, std::uint64_t most_rows) const;

  const std::vector<Shard> shards_;
  const CsvOptions& options_;
  std::vector<Text> texts_;
};

/// Whether all files are texts that can be read from any position: not gzip, not a pipe.
bool can_be_divided(const std::vector<Shard>& shards);

}  // namespace espalier
