// SPDX-License-Identifier: Apache-2.0
#include "table/division.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>

#include "core/bytes.h"
#include "core/gzip.h"
#include "csv/scanner.h"
#include "espalier/error.h"
#include "table/gather.h"
#include "table/rank_rows.h"

namespace espalier {
namespace {

constexpr std::uint64_t kAllRows = std::numeric_limits<std::uint64_t>::max();

}  // namespace

bool can_be_divided(const std::vector<Shard>& shards) {
  return std::ranges::all_of(shards, [](const Shard& shard) {
    std::error_code failure;
    if (!std::filesystem::is_regular_file(shard.path, failure)) return false;
    std::ifstream file(shard.path, std::ios::binary);
    char head[2] = {};
    file.read(head, sizeof head);
    return !is_gzip({head, sizeof head});
  });
}

DividedText::DividedText(std::vector<Shard> shards, const CsvOptions& options)
    : shards_(std::move(shards)), options_(options) {
  check_options(options);
  std::vector<std::string> columns;  // of the first file
  for (const auto& [path, name] : shards_) {
    Text& text = texts_.emplace_back(Text{.bytes = read_file(path), .begin = {}});
    const std::string_view all = text.bytes.view();
    const CsvHead head(head_of(all), options, name);
    if (head.rows().position() == head.rows().end()) head.read(head.rows(), 0);  // throws
    if (columns.empty()) columns = names_of(head);
    require_same_columns(names_of(head), name, columns, shards_.front().name);
    text.delimiter = head.rows().delimiter();
    text.begin = {texts_.size() - 1,
                  static_cast<std::uint64_t>(head.rows().position() - all.data()),
                  head.rows().line()};
    text.end = without_blank_end(all, text.delimiter).size();
  }
}

// The head of a text and some rows.
std::string_view DividedText::head_of(std::string_view text) const {
  for (std::size_t size = std::size_t{1} << 16; size < text.size(); size *= 2) {
    if (const std::size_t whole = whole_head_and_rows(text.substr(0, size), options_); whole > 0)
      return text.substr(0, whole);
  }
  return text;
}

TextPlace DividedText::begin_of(std::uint64_t file) const {
  return file < texts_.size() ? texts_[file].begin : TextPlace{texts_.size(), 0, 0};
}

// A line break after this many bytes of the rows of all files.
TextPlace DividedText::guess(std::uint64_t offset) const {
  for (std::uint64_t file = 0; file < texts_.size(); ++file) {
    const Text& text = texts_[file];
    const std::uint64_t size = text.end - text.begin.byte;
    if (offset == 0) return text.begin;
    if (offset < size) {
      const std::string_view all = text.bytes.view().substr(0, text.end);
      const CsvScanner scanner(all, text.delimiter, "", 1);
      const char* const row = scanner.row_after(all.data() + text.begin.byte + offset);
      if (row == scanner.end()) return begin_of(file + 1);
      return {file, static_cast<std::uint64_t>(row - all.data()), 0};
    }
    offset -= size;
  }
  return begin_of(texts_.size());
}

// The rows that begin between two places, up to a limit.
DividedText::Walk DividedText::walk(const TextPlace& begin, const TextPlace& until,
                                    std::uint64_t most_rows) const {
  Walk walk{begin, begin};
  TextPlace& at = walk.end;
  while (at.is_before(until) && walk.rows < most_rows) {
    const Text& text = texts_[at.file];
    const std::string_view all = text.bytes.view().substr(0, text.end);
    const std::uint64_t end = until.file == at.file ? until.byte : text.end;
    const std::string_view own = all.substr(at.byte, end - at.byte);
    bool ends_file = end == text.end;
    if (most_rows == kAllRows && own.find('"') == own.npos) {
      const std::uint64_t breaks = count_line_breaks(own.data(), own.data() + own.size());
      walk.rows += breaks + (ends_file ? 1 : 0);  // the last row of a file may have no line break
      at = {at.file, end, at.line + breaks};
    } else {
      CsvScanner scanner = CsvScanner(all, text.delimiter, "", 1).moved_to(own.data(), at.line);
      for (ends_file = false;
           !ends_file && walk.rows < most_rows && scanner.position() < all.data() + end;
           ++walk.rows)
        ends_file = !scanner.pass_row();
      const std::uint64_t lines = count_line_breaks(own.data(), scanner.position());
      at = {at.file, static_cast<std::uint64_t>(scanner.position() - all.data()), at.line + lines};
    }
    if (ends_file) at = begin_of(at.file + 1);
  }
  return walk;
}

// The counts of a rank. Lines count from the start of its range, unless the range begins a file.
std::vector<DividedText::Walk> DividedText::count(Ranks& ranks) const {
  std::uint64_t bytes = 0;
  for (const Text& text : texts_) bytes += text.end - text.begin.byte;
  const std::vector<std::uint64_t> sizes = gather_values(ranks, bytes);
  for (std::size_t q = 1; q < sizes.size(); ++q) {
    if (sizes[q] != sizes[0])
      throw Error(ErrorKind::data, fmt::format("rank {}: not the same as on rank 0: the size of {}",
                                               q, shards_.front().name));
  }
  const auto offset = [&](std::uint64_t q) {
    const std::uint64_t size = sizes.size();
    return bytes / size * q + bytes % size * q / size;
  };
  const auto rank = static_cast<std::size_t>(ranks.rank());
  const TextPlace until = guess(offset(rank + 1));
  TextPlace begin = guess(offset(rank));
  for (;;) {
    const std::vector<Walk> walks = gather_values(ranks, walk(begin, until, kAllRows));
    bool is_right = true;
    for (std::size_t q = 1; q < walks.size(); ++q) {
      if (walks[q].begin.is_at(walks[q - 1].end)) continue;
      is_right = false;
      if (q == rank) begin = walks[q - 1].end;
    }
    if (is_right) return walks;
  }
}

RankText DividedText::divide(Ranks& ranks) const {
  const std::vector<Walk> walks = count(ranks);
  const auto rank = static_cast<std::size_t>(ranks.rank());
  std::vector<std::uint64_t> first_rows{0};
  TextPlace begin = walks[rank].begin;
  std::uint64_t line = walks[0].begin.line;
  for (std::size_t q = 0; q < walks.size(); ++q) {
    if (q == rank) begin.line = line;
    const bool stays = walks[q].begin.file == walks[q].end.file;
    line = stays ? line + (walks[q].end.line - walks[q].begin.line) : walks[q].end.line;
    first_rows.push_back(first_rows.back() + walks[q].rows);
  }
  const std::uint64_t all_rows = first_rows.back();
  // The rank that counted the first row of another rank finds its place.
  std::vector<TextPlace> found(walks.size() + 1, begin_of(texts_.size()));
  const auto first_row = [&](std::size_t q) {
    return begin_of_part(parts_of_rank(static_cast<int>(q), ranks.size()).first, all_rows);
  };
  const auto finder = [&](std::uint64_t row) {
    return static_cast<std::size_t>(std::ranges::upper_bound(first_rows, row) -
                                    first_rows.begin()) -
           1;
  };
  for (std::size_t q = 0; q < walks.size(); ++q) {
    if (finder(first_row(q)) == rank)
      found[q] = walk(begin, walks[rank].end, first_row(q) - first_rows[rank]).end;
  }
  const std::vector<std::string> all = gather(&ranks, raw_bytes(std::span<const TextPlace>(found)));
  const auto place = [&](std::size_t q) {
    const std::size_t by = q < walks.size() ? finder(first_row(q)) : 0;
    return by < all.size() ? numbers_of<TextPlace>(all[by])[q] : begin_of(texts_.size());
  };
  const auto [first, last] = rows_of_rank(ranks, all_rows);
  return {.all_rows = all_rows,
          .first_row = first,
          .num_rows = last - first,
          .parts = parts_between(place(rank), place(rank + 1))};
}

std::vector<TextPart> DividedText::parts_between(const TextPlace& begin,
                                                 const TextPlace& end) const {
  std::vector<TextPart> parts;
  for (std::uint64_t file = begin.file; file < texts_.size() && file <= end.file; ++file) {
    const TextPlace& from = file == begin.file ? begin : texts_[file].begin;
    const std::uint64_t to = file == end.file ? end.byte : texts_[file].end;
    if (from.byte < to) parts.push_back({file, from.byte, to, from.line});
  }
  return parts;
}

PieceReader DividedText::read(const TextPart& part, const CsvOptions& options,
                              std::size_t piece_bytes) const {
  const Text& text = texts_[part.file];
  const std::string_view all = text.bytes.view();
  return PieceReader(all.substr(part.begin, part.end - part.begin),
                     CsvHead(head_of(all), options, shards_[part.file].name), part.line, options,
                     shards_[part.file].name, piece_bytes);
}

}  // namespace espalier
