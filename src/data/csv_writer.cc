// SPDX-License-Identifier: Apache-2.0
// Writes tables so that the reader finds the same cells again.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>

#include "espalier/csv.h"
#include "espalier/error.h"

namespace espalier {
namespace {

constexpr std::size_t kFlushSize = 1 << 16;

void check_column(const Column& column, std::size_t num_rows) {
  const bool is_number = column.type == ColumnType::number;
  const std::size_t size = is_number ? column.values().size() : column.codes.size();
  if (size != num_rows) {
    throw Error(ErrorKind::argument,
                fmt::format("column '{}': {} cells, wanted {} as the table has", column.name, size,
                            num_rows));
  }
  const auto num_words = static_cast<std::int32_t>(column.words.size());
  for (const std::int32_t code : column.codes) {
    if (code < kMissingCode || code >= num_words) {
      throw Error(ErrorKind::argument, fmt::format("column '{}': code {}, wanted less than {}",
                                                   column.name, code, num_words));
    }
  }
}

// Whatever the reader may take for a delimiter is quoted too, since it detects them.
bool needs_quotes(std::string_view text) {
  return text.empty() || text.find_first_of(",;|\t\"\r\n") != text.npos || text.front() == ' ' ||
         text.back() == ' ' || text.front() == '\xEF';  // a byte order mark
}

void append_text(std::string& out, std::string_view text) {
  if (!needs_quotes(text)) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_cell(std::string& out, const Column& column, std::size_t row) {
  if (column.type == ColumnType::category) {
    const std::int32_t code = column.codes[row];
    if (code != kMissingCode) append_text(out, column.words[static_cast<std::size_t>(code)]);
  } else if (const float number = column.values()[row]; !std::isnan(number)) {
    char digits[32];
    const auto end = column.exact.empty()
                         ? std::to_chars(digits, std::end(digits), number)
                         : std::to_chars(digits, std::end(digits), column.exact[row]);
    out.append(digits, end.ptr);
  }
}

}  // namespace

void write_csv(const Table& table, const std::function<void(std::string_view)>& write) {
  for (const Column& column : table.columns) check_column(column, table.num_rows);
  std::string text;
  for (const Column& column : table.columns) {
    if (&column != &table.columns.front()) text += ',';
    append_text(text, column.name);
  }
  text += '\n';
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    const std::size_t start = text.size();
    for (const Column& column : table.columns) {
      if (&column != &table.columns.front()) text += ',';
      append_cell(text, column, row);
    }
    if (text.size() == start) text += "\"\"";  // an empty line might be passed over
    text += '\n';
    if (text.size() >= kFlushSize) {
      write(text);
      text.clear();
    }
  }
  write(text);
}

void write_csv(const Table& table, std::ostream& out) {
  write_csv(table, [&out](std::string_view text) { out << text; });
  if (!out) throw Error(ErrorKind::file, "cannot write the table");
}

}  // namespace espalier
