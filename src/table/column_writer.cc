// SPDX-License-Identifier: Apache-2.0
#include "table/column_writer.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <utility>

#include "core/bytes.h"
#include "core/file.h"
#include "csv/cell.h"
#include "espalier/error.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

// Categories of a column are in memory. A column with more of them has names, which carry no
// information.
constexpr std::size_t kMaxCategories = std::size_t{1} << 24;

}  // namespace

std::string column_file(const std::string& folder, std::size_t column, std::string_view kind) {
  return fmt::format("{}/{}.{}", folder, column, kind);
}

ColumnWriter::ColumnWriter(std::string folder, std::size_t index)
    : folder_(std::move(folder)), index_(index) {}

void ColumnWriter::add(const Column& piece, const std::string& table) {
  if (column_.name.empty()) {
    column_ = {.name = piece.name, .type = piece.type};
    column_.missing = piece.missing;
    column_.not_missing = piece.not_missing;
  }
  if (piece.type == ColumnType::number) {
    append("numbers", piece.values(), column_.numbers);
    add_exact(piece);
  } else {
    add_codes(piece, table);
  }
}

StoredColumn ColumnWriter::finish() {
  StoredColumn stored{.has_exact = keeps_exact_ && had_exact_};
  if (!stored.has_exact) remove("exact", column_.exact);
  const auto checksum_of = [&](std::string_view kind) {
    return checksum(read_file(column_file(folder_, index_, kind)).view());
  };
  if (!folder_.empty()) {
    stored.checksum = checksum_of(column_.type == ColumnType::number ? "numbers" : "codes");
    if (stored.has_exact) stored.exact_checksum = checksum_of("exact");
  }
  column_.categories = categories_.take_categories();
  stored.column = std::move(column_);
  return stored;
}

// Keeps doubles as long as floats blur all numbers so far. Numbers of a piece without doubles are
// floats: if all numbers blur, those of a piece do.
void ColumnWriter::add_exact(const Column& piece) {
  if (!keeps_exact_) return;
  const std::span<const float> numbers = piece.values();
  const std::span<const double> doubles = piece.doubles();
  blur_.add(numbers);
  keeps_exact_ = blur_.blurs();
  had_exact_ = had_exact_ || !doubles.empty();
  if (!keeps_exact_) {
    remove("exact", column_.exact);
  } else if (doubles.empty()) {
    const std::vector<double> widened(numbers.begin(), numbers.end());
    append("exact", std::span(widened), column_.exact);
  } else {
    append("exact", doubles, column_.exact);
  }
}

void ColumnWriter::add_codes(const Column& piece, const std::string& table) {
  std::vector<std::int32_t> own;  // by the piece's code
  for (const std::string& category : piece.categories)
    own.push_back(categories_.index_of(category));
  if (!folder_.empty() && categories_.categories().size() > kMaxCategories) {
    throw Error(ErrorKind::data, fmt::format("{}: column '{}': more than {} words; leave it out",
                                             table, printable(column_.name), kMaxCategories));
  }
  std::vector<std::int32_t> codes;
  codes.reserve(piece.category_codes().size());
  for (const std::int32_t code : piece.category_codes())
    codes.push_back(code == kMissingCode ? code : own[static_cast<std::size_t>(code)]);
  append("codes", std::span<const std::int32_t>(codes), column_.codes);
}

template <class T>
void ColumnWriter::append(std::string_view kind, std::span<const T> cells,
                          std::vector<T>& in_memory) {
  if (folder_.empty()) {
    in_memory.insert(in_memory.end(), cells.begin(), cells.end());
  } else {
    append_to_file(column_file(folder_, index_, kind), raw_bytes(cells));
  }
}

template <class T>
void ColumnWriter::remove(std::string_view kind, std::vector<T>& in_memory) {
  in_memory = {};
  std::error_code ignored;  // it may not exist
  if (!folder_.empty()) fs::remove(column_file(folder_, index_, kind), ignored);
}

void PieceWriter::add(const Table& piece) {
  if (columns_.empty()) {
    for (const Column& column : piece.columns) columns_.emplace_back(column.name, column.type);
  }
  require_same_columns(piece);
  for (std::size_t c = 0; c < piece.columns.size(); ++c) {
    if (c == writers_.size()) writers_.emplace_back(folder_, c);
    writers_[c].add(piece.columns[c], piece.name);
  }
  num_rows_ += piece.num_rows;
}

void PieceWriter::require_same_columns(const Table& piece) const {
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::data,
                fmt::format("{}: its columns are others than those before: {}", piece.name, what));
  };
  if (piece.columns.size() != columns_.size())
    fail(fmt::format("{} columns, wanted {}", piece.columns.size(), columns_.size()));
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const auto& [name, type] = columns_[c];
    const Column& column = piece.columns[c];
    if (column.name != name)
      fail(fmt::format("column {} is '{}', wanted '{}'", c + 1, printable(column.name),
                       printable(name)));
    if (column.type != type)
      fail(fmt::format(
          "column '{}' has {}", printable(name),
          type == ColumnType::number ? "words, wanted numbers" : "numbers, wanted words"));
  }
}

void PieceWriter::clear() {
  std::error_code ignored;  // they may not exist
  for (std::size_t c = 0; c < writers_.size() && !folder_.empty(); ++c) {
    for (const char* const kind : {"numbers", "exact", "codes"})
      fs::remove(column_file(folder_, c, kind), ignored);
  }
  writers_.clear();
  columns_.clear();
  num_rows_ = 0;
}

StoredTable PieceWriter::finish() {
  StoredTable stored{.num_rows = num_rows_};
  for (ColumnWriter& writer : writers_) stored.columns.push_back(writer.finish());
  return stored;
}

}  // namespace espalier
