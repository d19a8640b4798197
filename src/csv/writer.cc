// SPDX-License-Identifier: Apache-2.0
// Writes tables so that the reader gets the same values back.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "core/default_floats.h"
#include "core/thread_pool.h"
#include "espalier/csv.h"
#include "espalier/error.h"

namespace espalier {
namespace {

constexpr std::size_t kRowsOfABlock = 2048;   // work of a task
constexpr std::size_t kBlocksOfAWindow = 64;  // blocks whose text is in memory at a time

void check_column(const Column& column, std::size_t num_rows) {
  const bool is_number = column.type == ColumnType::number;
  const std::size_t size = is_number ? column.values().size() : column.category_codes().size();
  if (size != num_rows) {
    throw Error(ErrorKind::argument,
                fmt::format("column '{}': {} cells, wanted {} as the table has", column.name, size,
                            num_rows));
  }
  const auto num_categories = static_cast<std::int32_t>(column.categories.size());
  for (const std::int32_t code : column.category_codes()) {
    if (code < kMissingCode || code >= num_categories) {
      throw Error(ErrorKind::argument, fmt::format("column '{}': code {}, wanted less than {}",
                                                   column.name, code, num_categories));
    }
  }
}

// Also quotes every character that the reader may detect as a delimiter.
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
    const std::int32_t code = column.category_codes()[row];
    if (code != kMissingCode) append_text(out, column.categories[static_cast<std::size_t>(code)]);
  } else if (const float number = column.values()[row]; !std::isnan(number)) {
    char digits[32];
    const auto end = column.doubles().empty()
                         ? std::to_chars(digits, std::end(digits), number)
                         : std::to_chars(digits, std::end(digits), column.doubles()[row]);
    out.append(digits, end.ptr);
  }
}

void append_header(std::string& out, const Table& table) {
  for (const Column& column : table.columns) {
    if (&column != &table.columns.front()) out += ',';
    append_text(out, column.name);
  }
  out += '\n';
}

void append_rows(std::string& out, const Table& table, std::size_t begin, std::size_t end) {
  for (std::size_t row = begin; row < end; ++row) {
    const std::size_t start = out.size();
    for (const Column& column : table.columns) {
      if (&column != &table.columns.front()) out += ',';
      append_cell(out, column, row);
    }
    if (out.size() == start) out += "\"\"";  // an empty line might be skipped
    out += '\n';
  }
}

}  // namespace

struct CsvWriter::State {
  std::function<void(std::string_view)> write;
  ThreadPool pool;
  bool began = false;
};

CsvWriter::CsvWriter(std::function<void(std::string_view)> write, int threads)
    : state_(new State{std::move(write), ThreadPool(threads)}) {}

CsvWriter::~CsvWriter() = default;

void CsvWriter::add(const Table& piece) {
  const DefaultFloats floats;
  for (const Column& column : piece.columns) check_column(column, piece.num_rows);
  std::string header;
  if (!state_->began) append_header(header, piece);
  state_->began = true;
  state_->write(header);
  const std::size_t window = kRowsOfABlock * kBlocksOfAWindow;
  for (std::size_t first = 0; first < piece.num_rows; first += window) {
    const std::size_t count = std::min(window, piece.num_rows - first);
    std::vector<std::string> blocks((count + kRowsOfABlock - 1) / kRowsOfABlock);
    state_->pool.run_ranges(count, kRowsOfABlock, [&](std::size_t begin, std::size_t end) {
      append_rows(blocks[begin / kRowsOfABlock], piece, first + begin, first + end);
    });
    for (const std::string& block : blocks) state_->write(block);
  }
}

void write_csv(const Table& table, const std::function<void(std::string_view)>& write) {
  CsvWriter(write, 1).add(table);
}

void write_csv(const Table& table, std::ostream& out) {
  write_csv(table, [&out](std::string_view text) { out << text; });
  if (!out) throw Error(ErrorKind::file, "cannot write the table");
}

}  // namespace espalier
