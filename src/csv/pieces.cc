// SPDX-License-Identifier: Apache-2.0
#include "csv/pieces.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/default_floats.h"
#include "core/file.h"
#include "core/thread_pool.h"
#include "csv/cell.h"
#include "csv/scanner.h"
#include "espalier/error.h"

namespace espalier {
namespace {

// A piece has several chunks per thread.
std::size_t bytes_for(int threads) {
  constexpr std::size_t kBytesAThread = std::size_t{2} << 20;
  const auto readers = static_cast<std::size_t>(threads > 0 ? threads : default_threads());
  return kBytesAThread * std::clamp<std::size_t>(readers, 2, 32);
}

}  // namespace

PieceReader::PieceReader(Source source, const CsvOptions& options, std::string name,
                         std::size_t piece_bytes)
    : source_(std::move(source)),
      options_(options),
      name_(std::move(name)),
      piece_bytes_(piece_bytes > 0 ? piece_bytes : bytes_for(options.threads)) {
  read_ahead();
}

PieceReader::PieceReader(std::string_view rows, const CsvHead& head, std::size_t line,
                         const CsvOptions& options, std::string name, std::size_t piece_bytes)
    : PieceReader(
          [rows]() mutable {
            constexpr std::size_t kBlock = std::size_t{1} << 20;
            const std::string_view block = rows.substr(0, kBlock);
            rows.remove_prefix(block.size());
            return std::string(block);
          },
          options, std::move(name), piece_bytes) {
  head_.emplace(head);
  line_ = line;
}

// Reads the bytes of a piece in the background, or on demand if no thread can be started.
void PieceReader::read_ahead() {
  ahead_ = std::async(std::launch::async | std::launch::deferred, [this] {
    std::string bytes;
    while (bytes.size() < piece_bytes_) {
      const std::string more = source_();
      if (more.empty()) break;
      bytes += more;
    }
    return bytes;
  });
}

void PieceReader::fill(std::size_t bytes) {
  while (!is_all_ && text_.size() < bytes) {
    const std::string more = ahead_.get();
    is_all_ = more.empty();
    text_ += more;
    if (!is_all_) read_ahead();
  }
}

// Reads the first piece from text that is complete or not: the head and some rows. Returns how much
// of the text it used, or 0 if it needs more.
std::size_t PieceReader::begin(std::string_view text, bool is_all, Table& piece) {
  const std::size_t size = is_all ? text.size() : whole_head_and_rows(text, options_);
  if (size == 0 && !is_all) return 0;
  head_.emplace(text.substr(0, size), options_, name_);
  piece = head_->read(head_->rows(), 0);
  return size;
}

// Reads a further piece; a size without rows consists of blank lines at the end.
std::size_t PieceReader::go_on(std::string_view text, bool is_all, Table& piece) {
  const char delimiter = head_->rows().delimiter();
  const std::size_t size = is_all ? text.size() : whole_rows(text, delimiter);
  const std::string_view rows = without_blank_end(text.substr(0, size), delimiter);
  if (rows.find('\0') != rows.npos)
    throw Error(ErrorKind::data, fmt::format("{}: not a text table: it has NUL bytes", name_));
  if (!rows.empty()) piece = head_->read(CsvScanner(rows, delimiter, name_, line_), 0);
  return size;
}

bool PieceReader::next(Table& piece) {
  piece = {};
  for (std::size_t wanted = piece_bytes_;; wanted *= 2) {
    fill(wanted);
    const std::string_view text = std::string_view(text_).substr(0, wanted);
    const bool is_all = is_all_ && text.size() == text_.size();
    const std::size_t size = head_ ? go_on(text, is_all, piece) : begin(text, is_all, piece);
    if (size == 0 && !is_all) continue;  // a row that is larger than a piece
    line_ += count_line_breaks(text.data(), text.data() + size);
    text_.erase(0, size);
    piece.first_row = std::exchange(rows_, rows_ + piece.num_rows);
    return piece.num_rows > 0;
  }
}

std::vector<std::string> PieceReader::columns() const { return names_of(*head_); }

std::vector<std::string> names_of(const CsvHead& head) {
  std::vector<std::string> names;
  for (const ColumnReader& column : head.columns()) names.push_back(column.name());
  return names;
}

ShardReader::ShardReader(std::vector<Shard> shards, const CsvOptions& options,
                         std::size_t piece_bytes)
    : shards_(std::move(shards)), options_(options), piece_bytes_(piece_bytes) {
  check_options(options);
}

void ShardReader::open_next() {
  const auto& [path, name] = shards_[opened_++];
  const auto file = std::make_shared<ByteSource>(path);
  reader_.emplace([file] { return file->next(); }, options_, name, piece_bytes_);
}

void ShardReader::require_same_columns() {
  const std::vector<std::string> own = reader_->columns();
  if (columns_.empty()) columns_ = own;
  espalier::require_same_columns(own, shards_[opened_ - 1].name, columns_, shards_[0].name);
}

void require_same_columns(const std::vector<std::string>& own, const std::string& name,
                          const std::vector<std::string>& first, const std::string& first_name) {
  if (own == first) return;
  const auto [found, wanted] = std::ranges::mismatch(own, first);
  const std::string what =
      found == own.end() ? fmt::format("no column '{}'", printable(*wanted))
      : wanted == first.end()
          ? fmt::format("column '{}' is one too many", printable(*found))
          : fmt::format("column {} is '{}', wanted '{}'", found - own.begin() + 1,
                        printable(*found), printable(*wanted));
  throw Error(ErrorKind::data, fmt::format("{}: its columns are others than those of {}: {}", name,
                                           first_name, what));
}

bool ShardReader::next(Table& piece) {
  for (;;) {
    if (reader_ && reader_->next(piece)) {
      if (piece.first_row == 0) require_same_columns();
      return true;
    }
    if (opened_ == shards_.size()) return false;
    open_next();
  }
}

struct CsvPieces::State {
  ShardReader reader;
};

CsvPieces::CsvPieces(const std::string& path, const CsvOptions& options, std::size_t piece_bytes)
    : state_(new State{{shards_of(path), options, piece_bytes}}) {}

CsvPieces::~CsvPieces() = default;

bool CsvPieces::next(Table& piece) {
  const DefaultFloats floats;
  return state_->reader.next(piece);
}

}  // namespace espalier
