// SPDX-License-Identifier: Apache-2.0
#include "csv/scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "espalier/error.h"

namespace espalier {
namespace {

bool is_line_break(char c) { return c == '\n' || c == '\r'; }

}  // namespace

std::size_t count_line_breaks(const char* at, const char* end) {
  const auto next = [end](const char* from, char c) {
    return static_cast<const char*>(std::memchr(from, c, static_cast<std::size_t>(end - from)));
  };
  std::size_t count = 0;
  for (const char* p = at; p != end && (p = next(p, '\n')) != nullptr; ++p) ++count;
  for (const char* p = at; p != end && (p = next(p, '\r')) != nullptr; ++p) {
    if (p + 1 == end || p[1] != '\n') ++count;
  }
  return count;
}

char detect_delimiter(std::string_view text, bool* is_whole) {
  constexpr std::string_view kCandidates = ",;\t|";
  std::array<int, kCandidates.size()> counts{};
  bool in_quotes = false;
  bool may_open = true;  // whether a quote opens here: at the start of a cell, or doubled
  bool met_end = false;
  text.remove_prefix(std::min(text.find_first_not_of(" \r\n"), text.size()));
  for (const char c : text) {
    if (c == '"') {
      const bool closes = in_quotes;
      in_quotes = !closes && may_open;
      may_open = closes;
      continue;
    }
    if (in_quotes) continue;
    met_end = is_line_break(c);
    if (met_end) break;
    const std::size_t candidate = kCandidates.find(c);
    if (candidate != kCandidates.npos) ++counts[candidate];
    may_open = candidate != kCandidates.npos || (may_open && c == ' ');
  }
  if (is_whole != nullptr) *is_whole = met_end;
  return kCandidates[std::max_element(counts.begin(), counts.end()) - counts.begin()];
}

std::string_view without_blank_end(std::string_view text, char delimiter) {
  const std::size_t last = text.find_last_not_of(delimiter == ' ' ? "\r\n" : " \r\n");
  return text.substr(0, last == text.npos ? 0 : last + 1);
}

std::size_t whole_rows(std::string_view text, char delimiter) {
  std::size_t end = 0;  // of the complete rows
  if (text.find('"') == text.npos) {
    const bool is_half = text.ends_with('\r');  // maybe the first half of CRLF
    const std::size_t last = text.substr(0, text.size() - (is_half ? 1 : 0)).find_last_of("\r\n");
    end = last == text.npos ? 0 : last + 1;
  } else {
    CsvScanner scanner(text, delimiter, "", 1);
    do {
      end = static_cast<std::size_t>(scanner.position() - text.data());
    } while (scanner.pass_row());
  }
  const std::size_t last = without_blank_end(text.substr(0, end), delimiter).size();
  if (last == 0) return 0;
  const char* const line_break = text.data() + text.find_first_of("\r\n", last);
  return static_cast<std::size_t>(after_line_break(line_break, text.data() + end) - text.data());
}

CsvScanner::CsvScanner(std::string_view text, char delimiter, std::string_view name,
                       std::size_t line)
    : delimiter_(delimiter),
      may_read_numbers_(std::string_view("+-.0123456789").find(delimiter) ==
                        std::string_view::npos),
      line_(line),
      name_(name) {
  for (const char c : {' ', '\t'}) kinds_[static_cast<unsigned char>(c)] = kBlank;
  for (const char c : {'\n', '\r', delimiter}) kinds_[static_cast<unsigned char>(c)] = kStop;
  at_ = text.data();
  end_ = at_ + text.size();
}

void CsvScanner::pass_blank_lines() {
  for (;;) {
    const char* at = pass_blanks(at_);
    if (at == end_ || !is_line_break(*at)) return;
    at_ = after_line_break(at, end_);
    ++line_;
  }
}

const char* CsvScanner::row_after(const char* at) const {
  at = std::find_if(at, end_, is_line_break);
  return at == end_ ? end_ : after_line_break(at, end_);
}

// The closing quote of a cell, skipping doubled quotes; the end of the text if there is none.
const char* CsvScanner::closing_quote(const char* quote) const {
  const char* close = std::find(quote + 1, end_, '"');
  while (close != end_ && close + 1 != end_ && close[1] == '"')
    close = std::find(close + 2, end_, '"');
  return close;
}

bool CsvScanner::pass_row() {
  for (;;) {
    const char* stop = pass_blanks(at_);
    if (stop != end_ && *stop == '"') {
      stop = closing_quote(stop);
      if (stop != end_) ++stop;
    }
    while (stop != end_ && !(kind(*stop) & kStop)) ++stop;
    if (stop == end_ || (*stop == '\r' && stop + 1 == end_)) return false;
    if (end_cell(stop)) return true;
  }
}

Cell CsvScanner::next_quoted(const char* quote) {
  const auto fail = [this](const char* what) {
    throw Error(ErrorKind::data, fmt::format("{}:{}: {}", name_, line_of_cell_, what));
  };
  const char* start = quote + 1;
  const char* close = std::find(start, end_, '"');
  bool is_escaped = false;
  while (close != end_ && close + 1 != end_ && close[1] == '"') {
    if (!is_escaped) unescaped_.clear();
    is_escaped = true;
    unescaped_.append(start, close + 1);
    start = close + 2;
    close = std::find(start, end_, '"');
  }
  if (close == end_) fail("a quote opens here and never closes");
  if (is_escaped) unescaped_.append(start, close);
  line_ += count_line_breaks(quote, close);

  const char* stop = pass_blanks(close + 1);
  if (stop != end_ && !(kind(*stop) & kStop)) fail("text after a closing quote");
  const std::string_view plain(start, static_cast<std::size_t>(close - start));
  return {is_escaped ? std::string_view(unescaped_) : plain, true, end_cell(stop)};
}

}  // namespace espalier
