// SPDX-License-Identifier: Apache-2.0
#include "csv/head.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/text.h"
#include "csv/cell.h"
#include "csv/rows.h"
#include "espalier/error.h"

namespace espalier {
namespace {

// The text after a byte order mark and the skipped lines.
struct Skipped {
  std::string_view rest;
  int lines;  // skipped lines: fewer if the text ended
};

Skipped skip_lines(std::string_view text, int wanted) {
  text = without_byte_order_mark(text);
  int line = 0;
  for (; line < wanted && !text.empty(); ++line) {
    const std::size_t at = std::min(text.find_first_of("\r\n"), text.size() - 1);
    const char* end = text.data() + text.size();
    text = {after_line_break(text.data() + at, end), end};
  }
  return {text, line};
}

}  // namespace

void check_options(const CsvOptions& options) {
  const auto fail = [](const char* what) { throw Error(ErrorKind::argument, what); };
  if (options.header && !options.columns.empty()) {
    fail("columns: the names of the columns are in the header");
  }
  if (!options.header && options.columns.empty()) {
    fail("columns: a file without a header needs the names of its columns");
  }
  if (options.delimiter == '"' || options.delimiter == '\n' || options.delimiter == '\r') {
    fail("delimiter: neither a quote nor a line break can separate cells");
  }
  if (options.skip_lines < 0) fail("skip_lines: wanted 0 or more");
  if (options.threads < 0) fail("threads: wanted 0 or more");
  for (const auto& [column, words] : options.not_missing) {
    if (std::find(words.begin(), words.end(), "") != words.end())
      fail("not_missing: an empty cell is always missing");
  }
}

CsvHead::CsvHead(std::string_view text, const CsvOptions& options, std::string_view name)
    : options_(options), name_(name), rows_(open(text)) {
  if (options_.header) {
    read_header();
  } else {
    for (const std::string& column : options_.columns) columns_.emplace_back(column);
  }
  check_names();
  choose_columns();
}

Table CsvHead::read(const CsvScanner& rows, std::size_t chunk_bytes) const {
  std::vector<ColumnReader> columns = columns_;
  RowReader reader(rows, columns,
                   {.file = name_, .names = options_.header ? "header" : "given columns"});
  if (reader.guess() == 0) fail(options_.header ? "a header but no rows" : "no rows");
  Table table;
  table.name = name_;
  table.num_rows = reader.read(options_.threads, chunk_bytes);
  for (ColumnReader& column : columns) {
    if (column.is_wanted()) table.columns.push_back(column.take());
  }
  return table;
}

void CsvHead::fail(std::string_view what) const {
  throw Error(ErrorKind::data, fmt::format("{}: {}", name_, what));
}

// Skips to the header or, without a header, to the rows.
CsvScanner CsvHead::open(std::string_view text) const {
  if (text.find('\0') != text.npos) fail("not a text table: it has NUL bytes");
  const Skipped all = skip_lines(text, 0);
  if (all.rest.empty()) fail("the file is empty");
  const Skipped skipped = skip_lines(text, options_.skip_lines);
  if (skipped.lines < options_.skip_lines)
    fail(fmt::format("{} lines, wanted to skip {}", skipped.lines, options_.skip_lines));
  const char delimiter =
      options_.delimiter != 0 ? options_.delimiter : detect_delimiter(skipped.rest);
  return CsvScanner(without_blank_end(skipped.rest, delimiter), delimiter, name_,
                    static_cast<std::size_t>(options_.skip_lines) + 1);
}

void CsvHead::read_header() {
  rows_.pass_blank_lines();
  if (!rows_.begin_row()) fail("no header: the file is empty");
  std::size_t num_columns = 1;
  for (CsvScanner ahead = rows_; !ahead.next().ends_row;) ++num_columns;
  columns_.reserve(num_columns);  // a column is a large object, though its name may be short
  for (bool more = true; more;) {
    const Cell cell = rows_.next();
    columns_.emplace_back(std::string(cell.text));
    more = !cell.ends_row;
  }
}

void CsvHead::check_names() {
  const auto is_binary = [](unsigned char c) {
    return c < ' ' && c != '\n' && c != '\r' && c != '\t';
  };
  for (const ColumnReader& column : columns_) {
    const std::string& name = column.name();
    if (std::any_of(name.begin(), name.end(), is_binary)) {
      fail("not a text table: a column name has control characters");
    }
    if (!name.empty() && !names_.insert(name).second) {
      fail(fmt::format("two columns are named '{}'", printable(name)));
    }
  }
}

void CsvHead::choose_columns() {
  const NameSet optional(options_.optional.begin(), options_.optional.end());
  const auto require_unless_optional = [&](const auto& named) {
    for (const auto& [name, value] : named) {
      if (!optional.contains(name)) require_column(name);
    }
  };
  require_unless_optional(options_.types);
  require_unless_optional(options_.column_missing);
  require_unless_optional(options_.not_missing);
  for (const std::string& name : options_.drop) require_column(name);
  for (const std::string& name : options_.keep_text) require_column(name);
  const NameSet drop(options_.drop.begin(), options_.drop.end());
  const NameSet only(options_.only.begin(), options_.only.end());
  const NameSet keep_text(options_.keep_text.begin(), options_.keep_text.end());
  bool any = false;
  for (ColumnReader& column : columns_) {
    const std::string& name = column.name();
    if (name.empty() || drop.contains(name) || !(only.empty() || only.contains(name))) continue;
    const auto type = options_.types.find(name);
    column.want(type == options_.types.end() ? nullptr : &type->second, missing_words(name),
                not_missing_words(name));
    if (keep_text.contains(name)) column.keep_text();
    any = true;
  }
  if (!any) fail("no columns left to read");
}

std::vector<std::string> CsvHead::missing_words(const std::string& column) const {
  std::vector<std::string> words = options_.missing;
  const auto own = options_.column_missing.find(column);
  if (own != options_.column_missing.end()) {
    words.insert(words.end(), own->second.begin(), own->second.end());
  }
  return words;
}

std::vector<std::string> CsvHead::not_missing_words(const std::string& column) const {
  const auto own = options_.not_missing.find(column);
  return own == options_.not_missing.end() ? std::vector<std::string>() : own->second;
}

void CsvHead::require_column(const std::string& wanted) const {
  constexpr std::size_t kMaxListed = 20;
  if (names_.contains(wanted)) return;
  std::string message = fmt::format("no column '{}'", printable(wanted));
  if (const auto meant = nearest(wanted, columns_, &ColumnReader::name))
    message += fmt::format("; is it '{}'?", printable(*meant));
  if (columns_.size() <= kMaxListed) {
    std::vector<std::string> names;
    for (const ColumnReader& column : columns_) {
      if (!column.name().empty()) names.push_back(printable(column.name()));
    }
    message += fmt::format(" (it has {})", fmt::join(names, ", "));
  }
  fail(message);
}

std::size_t whole_head_and_rows(std::string_view text, const CsvOptions& options) {
  const Skipped skipped = skip_lines(text, options.skip_lines);
  bool is_whole = true;
  const char delimiter =
      options.delimiter != 0 ? options.delimiter : detect_delimiter(skipped.rest, &is_whole);
  // A byte after the skipped lines shows that the last skipped line is complete.
  if (skipped.rest.empty() || !is_whole) return 0;
  CsvScanner scanner(skipped.rest, delimiter, "", 1);
  if (options.header) {
    scanner.pass_blank_lines();
    if (!scanner.pass_row()) return 0;
  }
  const char* const end = text.data() + text.size();
  const std::size_t rows = whole_rows({scanner.position(), end}, delimiter);
  return rows == 0 ? 0 : static_cast<std::size_t>(scanner.position() - text.data()) + rows;
}

}  // namespace espalier
