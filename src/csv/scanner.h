// SPDX-License-Identifier: Apache-2.0
// Splits CSV text into fields in one pass, without an allocation per field. A scanner can start at
// any row, so that several threads can scan one text.
//
//   row        = cell *(delimiter cell) line-break
//   cell       = *blank (text | '"' *(any | '""') '"') *blank
//   blank      = space | tab, unless it is the delimiter
//   line-break = LF | CRLF | CR
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "csv/cell.h"

namespace espalier {

struct Cell {
  std::string_view text;  // unescaped, without surrounding blanks; valid until the next cell
  bool quoted = false;
  bool ends_row = false;
};

// The most frequent of , ; tab | outside quotes in the first line that is not empty; a comma if
// there is none. `is_whole` tells whether the text contains the end of that line.
char detect_delimiter(std::string_view text, bool* is_whole = nullptr);

// The position after the line break at `at`.
inline const char* after_line_break(const char* at, const char* end) {
  const bool is_crlf = *at == '\r' && at + 1 != end && at[1] == '\n';
  return at + (is_crlf ? 2 : 1);
}

// The text without blank lines and spaces at its end. Every line before the end then begins a row.
std::string_view without_blank_end(std::string_view text, char delimiter);

// How many bytes of an incomplete text, which begins at a row, are complete rows. The last of them
// is not blank, because trailing blank lines may be the end of the text.
std::size_t whole_rows(std::string_view text, char delimiter);

// The number of line breaks.
std::size_t count_line_breaks(const char* at, const char* end);

// A copy is independent and can serve as a bookmark. `text` and `name` must outlive it.
class CsvScanner {
 public:
  // `name` is the file name in messages; `line` is the line number at the start of `text`.
  CsvScanner(std::string_view text, char delimiter, std::string_view name, std::size_t line);

  // Moves to the next row; returns false at the end. A blank line is a row of one empty cell,
  // except at the end of the text.
  bool begin_row() {
    row_ = at_;
    line_of_row_ = line_;
    return at_ != end_;
  }

  // Whether the line of the row is empty.
  bool row_is_blank() const {
    const char* at = pass_blanks(row_);
    return at == end_ || *at == '\n' || *at == '\r';
  }

  void pass_blank_lines();

  // Moves to the next row without reading its cells. Returns false if the text may end before the
  // row: within quotes, without a line break, or in the middle of CRLF.
  bool pass_row();

  // The next cell of the row. Throws Error (data) for text after a closing quote.
  Cell next() {
    const char* start = pass_blanks(at_);
    line_of_cell_ = line_;
    if (start != end_ && *start == '"') return next_quoted(start);
    const char* stop = start;
    while (stop != end_ && !(kind(*stop) & kStop)) ++stop;
    const char* last = stop;
    while (last != start && (kind(last[-1]) & kBlank)) --last;
    return {{start, static_cast<std::size_t>(last - start)}, false, end_cell(stop)};
  }

  // Reads the next cell if it is a plain number, the common case. Otherwise returns false and does
  // not move.
  bool next_number(Number& number, bool& ends_row) {
    if (!may_read_numbers_) return false;
    const char* const stop = parse_short_decimal(pass_blanks(at_), end_, number);
    if (stop == nullptr || !(stop == end_ || (kind(*stop) & kStop))) return false;
    line_of_cell_ = line_;
    ends_row = end_cell(stop);
    return true;
  }

  // A copy at another position, which must begin a row and has this line number.
  CsvScanner moved_to(const char* row, std::size_t line) const {
    CsvScanner copy = *this;
    copy.at_ = row;
    copy.line_ = line;
    return copy;
  }

  // The start of the row after the next line break, if `at` is not within quotes.
  const char* row_after(const char* at) const;

  std::size_t line_of_row() const { return line_of_row_; }
  std::size_t line_of_cell() const { return line_of_cell_; }
  std::size_t line() const { return line_; }
  char delimiter() const { return delimiter_; }
  const char* position() const { return at_; }
  const char* end() const { return end_; }

 private:
  static constexpr std::uint8_t kStop = 1;   // ends an unquoted cell
  static constexpr std::uint8_t kBlank = 2;  // dropped around a cell

  std::uint8_t kind(char c) const { return kinds_[static_cast<unsigned char>(c)]; }

  const char* pass_blanks(const char* at) const {
    while (at != end_ && (kind(*at) & kBlank)) ++at;
    return at;
  }

  // Moves past the end of a cell. Returns true if the row ends there too.
  bool end_cell(const char* stop) {
    if (stop == end_) {
      at_ = end_;
      return true;
    }
    if (*stop == delimiter_) {
      at_ = stop + 1;
      return false;
    }
    at_ = after_line_break(stop, end_);
    ++line_;
    return true;
  }

  Cell next_quoted(const char* quote);
  const char* closing_quote(const char* quote) const;

  const char* at_;
  const char* end_;
  const char* row_ = nullptr;
  char delimiter_;
  bool may_read_numbers_;  // whether numbers cannot contain the delimiter
  std::array<std::uint8_t, 256> kinds_{};
  std::size_t line_;
  std::size_t line_of_row_ = 0;
  std::size_t line_of_cell_ = 0;
  std::string_view name_;
  std::string unescaped_;
};

}  // namespace espalier
