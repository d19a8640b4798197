// SPDX-License-Identifier: Apache-2.0
#include "data/csv_scanner.h"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/error.h"

namespace espalier {
namespace {

bool is_line_break(char c) { return c == '\n' || c == '\r'; }

std::size_t count_line_breaks(const char* at, const char* end) {
  std::size_t count = 0;
  while (at != end) {
    if (is_line_break(*at)) {
      ++count;
      at = after_line_break(at, end);
    } else {
      ++at;
    }
  }
  return count;
}

}  // namespace

char detect_delimiter(std::string_view text) {
  constexpr std::string_view kCandidates = ",;\t|";
  std::array<int, kCandidates.size()> counts{};
  bool in_quotes = false;
  bool may_open = true;  // a quote here opens: at the start of a cell, or doubled
  text.remove_prefix(std::min(text.find_first_not_of(" \r\n"), text.size()));
  for (const char c : text) {
    if (c == '"') {
      const bool closes = in_quotes;
      in_quotes = !closes && may_open;
      may_open = closes;
      continue;
    }
    if (in_quotes) continue;
    if (is_line_break(c)) break;
    const std::size_t candidate = kCandidates.find(c);
    if (candidate != kCandidates.npos) ++counts[candidate];
    may_open = candidate != kCandidates.npos || (may_open && c == ' ');
  }
  return kCandidates[std::max_element(counts.begin(), counts.end()) - counts.begin()];
}

CsvScanner::CsvScanner(std::string_view text, char delimiter, std::string_view name,
                       std::size_t line)
    : delimiter_(delimiter), line_(line), name_(name) {
  for (const char c : {' ', '\t'}) kinds_[static_cast<unsigned char>(c)] = kBlank;
  for (const char c : {'\n', '\r', delimiter}) kinds_[static_cast<unsigned char>(c)] = kStop;
  // Without the line breaks at the end every position before it begins a row.
  const std::size_t last = text.find_last_not_of(delimiter == ' ' ? "\r\n" : " \r\n");
  at_ = text.data();
  end_ = at_ + (last == text.npos ? 0 : last + 1);
}

void CsvScanner::pass_blank_lines() {
  for (;;) {
    const char* at = pass_blanks(at_);
    if (at == end_ || !is_line_break(*at)) return;
    at_ = after_line_break(at, end_);
    ++line_;
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
