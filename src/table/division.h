// SPDX-License-Identifier: Apache-2.0
// The rows of texts that several ranks read together: which bytes are whose.
//
// Each rank counts the rows of a stretch of bytes, the same length for all. Where such a stretch
// begins is not known before all that comes before it is read: at a line break, which may lie
// within quotes. So a line break is taken to end a row, all say where the row behind their last one
// begins, and who began elsewhere counts again, as the chunks of csv/rows.h do. Then all know how
// many rows there are, and who has counted the first row of a rank says where it is.
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

/// Where a row begins; behind the last file if there is none.
struct TextPlace {
  std::uint64_t file = 0;
  std::uint64_t byte = 0;
  std::uint64_t line = 0;  // of the file, from 1

  bool is_at(const TextPlace& other) const { return file == other.file && byte == other.byte; }
  bool is_before(const TextPlace& other) const {
    return file < other.file || (file == other.file && byte < other.byte);
  }
};

/// Some rows of one file.
struct TextPart {
  std::uint64_t file;
  std::uint64_t begin, end;  // bytes
  std::uint64_t line;        // of the first
};

/// What a rank has of all rows.
struct RankText {
  std::uint64_t all_rows = 0;
  std::uint64_t first_row = 0;
  std::uint64_t num_rows = 0;
  std::vector<TextPart> parts;
};

class DividedText {
 public:
  /// Throws Error (data, file) for files that are no tables. The options outlive it.
  DividedText(std::vector<Shard> shards, const CsvOptions& options);

  /// What this rank has, as rows_of_rank says; all ranks call it, with the same files.
  RankText divide(Ranks& ranks) const;

  /// The rows of a part, piece by piece.
  PieceReader read(const TextPart& part, const CsvOptions& options, std::size_t piece_bytes) const;

 private:
  struct Text {
    FileBytes bytes;
    TextPlace begin;        // of the first row
    std::uint64_t end = 0;  // of the last
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

/// Whether all files are texts that can be read from the middle: no gzip, no pipe.
bool can_be_divided(const std::vector<Shard>& shards);

}  // namespace espalier
