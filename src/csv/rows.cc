// SPDX-License-Identifier: Apache-2.0
#include "csv/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "csv/cell.h"
#include "espalier/error.h"

namespace espalier {
namespace {

constexpr std::size_t kGuessRows = 100;

// Large enough for a task, so that the per-column data of a chunk is small compared to its text.
constexpr std::size_t kChunkBytes = 1 << 20;
constexpr std::size_t kChunkBytesAColumn = 256;

}  // namespace

std::size_t RowReader::guess() {
  Chunk chunk{.begin = rows_.position(), .end = rows_.end()};
  // A row has at least one byte per cell.
  const auto bytes = static_cast<std::size_t>(chunk.end - chunk.begin);
  chunk.max_rows = std::min(kGuessRows, bytes / columns_.size() + 1);
  for (ColumnReader& column : columns_) column.make_room(chunk.max_rows);
  walk(chunk, rows_.line());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    columns_[c].guess(chunk.num_rows, chunk.parts[c]);
  }
  return chunk.num_rows;
}

std::size_t RowReader::read(int threads, std::size_t chunk_bytes) {
  if (chunk_bytes == 0) chunk_bytes = std::max(kChunkBytes, kChunkBytesAColumn * columns_.size());
  std::vector<Chunk> chunks = cut(chunk_bytes);
  const auto num_chunks = static_cast<int>(chunks.size());
  const auto num_columns = static_cast<int>(columns_.size());
  ThreadPool pool(num_chunks == 1 ? 1 : threads);
  pool.run(num_chunks, [&](int i) {
    Chunk& chunk = chunks[static_cast<std::size_t>(i)];
    chunk.max_rows = most_rows(chunk);
  });
  std::size_t room = 0;
  for (Chunk& chunk : chunks) {
    chunk.first_row = room;
    room += chunk.max_rows;
  }
  // Only columns whose first category appeared late, or whose numbers floats blur, need another
  // pass.
  for (bool is_finished = false; !is_finished;) {
    pool.run(num_columns, [&](int c) { columns_[static_cast<std::size_t>(c)].make_room(room); });
    walk(chunks, pool);
    std::vector<char> finished(columns_.size());
    pool.run(num_columns, [&](int c) {
      const auto column = static_cast<std::size_t>(c);
      finished[column] = finish_column(column, chunks);
    });
    is_finished = std::find(finished.begin(), finished.end(), false) == finished.end();
  }
  std::size_t num_rows = 0;
  for (const Chunk& chunk : chunks) num_rows += chunk.num_rows;
  return num_rows;
}

std::vector<RowReader::Chunk> RowReader::cut(std::size_t chunk_bytes) const {
  std::vector<Chunk> chunks;
  const char* at = rows_.position();
  while (at != rows_.end()) {
    const bool is_last = static_cast<std::size_t>(rows_.end() - at) <= chunk_bytes;
    const char* const end = is_last ? rows_.end() : rows_.row_after(at + chunk_bytes);
    chunks.push_back({.begin = at, .end = end});
    at = end;
  }
  return chunks;
}

// Each row of a chunk is its first row or follows a line break, and all rows but the last have at
// least one byte per cell. So the memory for cells is never much larger than the text.
std::size_t RowReader::most_rows(const Chunk& chunk) const {
  const auto bytes = static_cast<std::size_t>(chunk.end - chunk.begin);
  return std::min(count_line_breaks(chunk.begin, chunk.end), bytes / columns_.size()) + 1;
}

void RowReader::walk(std::vector<Chunk>& chunks, ThreadPool& pool) {
  pool.run(static_cast<int>(chunks.size()), [&](int i) {
    Chunk& chunk = chunks[static_cast<std::size_t>(i)];
    try {
      walk(chunk, 0);
    } catch (const Error&) {
      chunk.has_failed = true;
    }
  });
  const char* begin = rows_.position();
  std::size_t line = rows_.line();
  for (Chunk& chunk : chunks) {
    if (chunk.begin != begin || chunk.has_failed) {
      chunk.begin = begin;
      walk(chunk, line);
    }
    begin = chunk.next_row;
    line += chunk.num_lines;
  }
}

// Reads the rows that begin in the chunk, whose first line has this number.
void RowReader::walk(Chunk& chunk, std::size_t line) {
  chunk.parts = std::vector<ColumnPart>(columns_.size());
  chunk.num_rows = 0;
  CsvScanner scanner = rows_.moved_to(chunk.begin, line);
  while (chunk.num_rows < chunk.max_rows && scanner.begin_row() && scanner.position() < chunk.end) {
    read_row(scanner, chunk);
    ++chunk.num_rows;
  }
  scanner.begin_row();
  chunk.next_row = scanner.position();
  chunk.num_lines = scanner.line() - line;
  chunk.has_failed = false;
}

void RowReader::read_row(CsvScanner& scanner, Chunk& chunk) {
  const std::size_t row = chunk.first_row + chunk.num_rows;
  const std::size_t width = columns_.size();
  for (std::size_t c = 0; c < width; ++c) {
    ColumnReader& column = columns_[c];
    Number number;
    bool ends_row;
    if (column.wants_numbers() && scanner.next_number(number, ends_row)) {
      if (ends_row != (c + 1 == width)) fail_ragged(scanner, c + 1, ends_row);
      column.set_number(row, number, chunk.parts[c]);
      continue;
    }
    const Cell cell = scanner.next();
    if (cell.ends_row != (c + 1 == width)) fail_ragged(scanner, c + 1, cell.ends_row);
    if (!column.set(row, cell, chunk.parts[c])) fail_number(scanner, column.name(), cell.text);
  }
}

// Returns false if the column needs another pass.
bool RowReader::finish_column(std::size_t column, std::vector<Chunk>& chunks) {
  ColumnReader& reader = columns_[column];
  if (reader.is_finished()) return true;
  std::vector<FilledRows> rows;
  std::vector<ColumnPart*> parts;
  for (Chunk& chunk : chunks) {
    rows.push_back({chunk.first_row, chunk.num_rows});
    parts.push_back(&chunk.parts[column]);
  }
  return reader.finish(rows, parts);
}

void RowReader::fail_ragged(CsvScanner& scanner, std::size_t num_cells, bool at_end) const {
  const std::size_t line = scanner.line_of_row();
  if (scanner.row_is_blank()) {
    fail(line, fmt::format("an empty line, wanted {} cells as in the {}", columns_.size(),
                           places_.names));
  }
  while (!at_end) {
    at_end = scanner.next().ends_row;
    ++num_cells;
  }
  fail(line,
       fmt::format("{} cells, wanted {} as in the {}", num_cells, columns_.size(), places_.names));
}

void RowReader::fail_number(const CsvScanner& scanner, std::string_view column,
                            std::string_view text) const {
  fail(scanner.line_of_cell(),
       fmt::format("column '{}': '{}' is not a number", printable(column), printable(text)));
}

void RowReader::fail(std::size_t line, std::string_view what) const {
  throw Error(ErrorKind::data, fmt::format("{}:{}: {}", places_.file, line, what));
}

}  // namespace espalier
