// SPDX-License-Identifier: Apache-2.0
#include "table/stored_table.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <thread>
#include <utility>

#include "core/bytes.h"
#include "core/descriptor.h"
#include "core/file.h"
#include "espalier/error.h"
#include "espalier/version.h"
#include "table/column_writer.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "ESPTABLE";
constexpr std::uint32_t kFormatVersion = 1;

void put_texts(std::string& out, const std::vector<std::string>& texts) {
  put(out, static_cast<std::uint64_t>(texts.size()));
  for (const std::string& text : texts) put_text(out, text);
}

// One column at a time: a wrong count fails when the bytes end.
std::vector<std::string> get_texts(Reader& reader, std::string_view what) {
  std::vector<std::string> texts;
  const auto count = reader.get<std::uint64_t>(what);
  for (std::uint64_t i = 0; i < count; ++i) texts.emplace_back(reader.text(what));
  return texts;
}

// A column that turns out to be categorical makes reading start again, with that column as
// categorical from the first row on. Most such columns are found in the first piece.
StoredTable read_columns(const std::vector<Shard>& shards, CsvOptions options,
                         const std::string& folder, std::size_t piece_bytes) {
  PieceWriter writer(folder);
  auto reader = std::make_unique<ShardReader>(shards, options, piece_bytes);
  for (Table piece; reader->next(piece);) {
    if (const auto names = new_words(piece, options); !names.empty()) {
      for (const std::string& name : names) options.types[name] = ColumnType::category;
      reader = std::make_unique<ShardReader>(shards, options, piece_bytes);
      writer.clear();
      continue;
    }
    writer.add(piece);
  }
  return writer.finish();
}

// The values of a file. Throws Error (format) if their number is wrong or they are damaged.
template <class T>
std::span<const T> map_cells(const std::string& path, std::uint64_t num_rows, std::uint64_t wanted,
                             std::vector<FileBytes>& files) {
  const auto fail = [&](const char* what) {
    throw Error(ErrorKind::format, fmt::format("{}: not a usable column: {}", path, what));
  };
  const std::string_view bytes = files.emplace_back(read_file(path)).view();
  if (bytes.size() / sizeof(T) != num_rows || bytes.size() % sizeof(T) != 0) fail("another size");
  if (checksum(bytes) != wanted) fail("the checksum does not match");
  return {reinterpret_cast<const T*>(bytes.data()), static_cast<std::size_t>(num_rows)};
}

std::int64_t nanoseconds_of(const timespec& time) {
  return std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

// Waits until a later change of the file would get a later time stamp. File system clocks move in
// steps of a few milliseconds, or of up to two seconds if all times are whole seconds.
void wait_for_a_later_time(const struct stat& status) {
  using namespace std::chrono;
  const bool is_coarse = status.st_ctim.tv_nsec == 0 && status.st_mtim.tv_nsec == 0;
  const nanoseconds step = is_coarse ? nanoseconds(seconds(2)) : nanoseconds(milliseconds(20));
  const nanoseconds age =
      system_clock::now().time_since_epoch() - nanoseconds(nanoseconds_of(status.st_ctim));
  if (age < step) std::this_thread::sleep_for(std::min(step, step - age));
}

// Identifies a file: path, inode, size and times. Every change of its bytes changes the
// status-change time, which nobody can set.
std::string facts_of(const Shard& shard) {
  const std::string path = fs::absolute(shard.path).string();
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) throw_file_error("read", shard.name, errno);
  wait_for_a_later_time(status);
  std::string text;
  put_text(text, path);
  put(text, static_cast<std::uint64_t>(status.st_ino));
  put(text, static_cast<std::uint64_t>(status.st_size));
  put(text, nanoseconds_of(status.st_mtim));
  put(text, nanoseconds_of(status.st_ctim));
  return text;
}

StoredTable read_head(const std::string& folder) {
  const std::string path = folder + "/table";
  return parse_stored_table(read_file(path).view(), path);
}

// The columns of a folder, memory-mapped.
Table open_columns(StoredTable stored, const std::string& folder) {
  const auto files = std::make_shared<std::vector<FileBytes>>();
  Table table{.num_rows = static_cast<std::size_t>(stored.num_rows), .memory = files};
  for (std::size_t c = 0; c < stored.columns.size(); ++c) {
    StoredColumn& from = stored.columns[c];
    Column& column = table.columns.emplace_back(std::move(from.column));
    const auto file = [&](std::string_view kind) { return column_file(folder, c, kind); };
    if (column.type == ColumnType::category) {
      column.borrowed_codes =
          map_cells<std::int32_t>(file("codes"), stored.num_rows, from.checksum, *files);
      const auto count = static_cast<std::int32_t>(column.categories.size());
      for (const std::int32_t code : column.borrowed_codes) {
        if (code < kMissingCode || code >= count)
          throw Error(ErrorKind::format, fmt::format("{}: a code without a word", file("codes")));
      }
    } else {
      column.borrowed = map_cells<float>(file("numbers"), stored.num_rows, from.checksum, *files);
      if (from.has_exact)
        column.borrowed_exact =
            map_cells<double>(file("exact"), stored.num_rows, from.exact_checksum, *files);
    }
  }
  return table;
}

}  // namespace

std::vector<std::string> new_words(const Table& piece, const CsvOptions& options) {
  std::vector<std::string> names;
  for (const Column& column : piece.columns) {
    if (column.type == ColumnType::category && !options.types.contains(column.name))
      names.push_back(column.name);
  }
  return names;
}

std::string to_bytes(const StoredTable& table) {
  std::string out(kMagic);
  put(out, kFormatVersion);
  put_text(out, table.source);
  put(out, table.num_rows);
  put(out, static_cast<std::uint64_t>(table.columns.size()));
  for (const StoredColumn& stored : table.columns) {
    put_text(out, stored.column.name);
    put(out, static_cast<std::uint8_t>(stored.column.type));
    put_texts(out, stored.column.categories);
    put_texts(out, stored.column.missing);
    put_texts(out, stored.column.not_missing);
    put(out, stored.checksum);
    put(out, static_cast<std::uint8_t>(stored.has_exact));
    put(out, stored.exact_checksum);
  }
  put(out, checksum(out));
  return out;
}

StoredTable parse_stored_table(std::string_view bytes, const std::string& name) {
  Reader reader(bytes, name, "table");
  reader.open_frame(kMagic, kFormatVersion);
  StoredTable table{.source = std::string(reader.text("source"))};
  table.num_rows = reader.get<std::uint64_t>("rows");
  const auto count = reader.get<std::uint64_t>("columns");
  const auto flag = [&](std::string_view what) {
    const auto value = reader.get<std::uint8_t>(what);
    if (value > 1) reader.fail(fmt::format("{}: {}, wanted 0 or 1", what, value));
    return value == 1;
  };
  for (std::uint64_t c = 0; c < count; ++c) {
    StoredColumn& stored = table.columns.emplace_back();
    stored.column.name = reader.text("columns");
    stored.column.type = flag("types") ? ColumnType::category : ColumnType::number;
    stored.column.categories = get_texts(reader, "words");
    stored.column.missing = get_texts(reader, "words");
    stored.column.not_missing = get_texts(reader, "words");
    stored.checksum = reader.get<std::uint64_t>("checksums");
    stored.has_exact = flag("doubles");
    stored.exact_checksum = reader.get<std::uint64_t>("checksums");
  }
  if (reader.left() > 0) reader.fail("bytes follow the columns");
  return table;
}

StoredTable store_table(const std::vector<Shard>& shards, const CsvOptions& options,
                        const std::string& folder, std::size_t piece_bytes) {
  std::vector<std::string> facts;
  for (const Shard& shard : shards) facts.push_back(facts_of(shard));
  const std::string source = source_of(shards, options);
  StoredTable stored = read_columns(shards, options, folder, piece_bytes);
  stored.source = source;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    if (facts_of(shards[s]) != facts[s])
      throw Error(ErrorKind::file, fmt::format("{}: changed while it was read", shards[s].name));
  }
  write_file_atomically(folder + "/table", to_bytes(stored));
  return stored;
}

Table table_of(StoredTable stored) {
  Table table{.num_rows = static_cast<std::size_t>(stored.num_rows)};
  for (StoredColumn& column : stored.columns) table.columns.push_back(std::move(column.column));
  return table;
}

Table read_shards(const std::vector<Shard>& shards, const CsvOptions& options,
                  std::size_t piece_bytes) {
  return table_of(read_columns(shards, options, "", piece_bytes));
}

std::optional<Table> find_stored_table(const std::string& folder, const std::string& source) {
  StoredTable stored = read_head(folder);
  if (stored.source != source) return std::nullopt;
  return open_columns(std::move(stored), folder);
}

Table open_stored_table(const std::string& folder) {
  return open_columns(read_head(folder), folder);
}

std::string source_of(const std::vector<Shard>& shards, const CsvOptions& options) {
  std::string text;
  put_text(text, kVersion);
  for (const Shard& shard : shards) text += facts_of(shard);
  const auto put_lists = [&](const auto& lists) {
    for (const auto& [name, categories] : lists) {
      put_text(text, name);
      put_texts(text, categories);
    }
    put(text, static_cast<std::uint64_t>(lists.size()));
  };
  put(text, options.header);
  put(text, options.delimiter);
  put(text, options.skip_lines);
  for (const auto* list : {&options.columns, &options.missing, &options.optional, &options.drop,
                           &options.only, &options.keep_text})
    put_texts(text, *list);
  put_lists(options.column_missing);
  put_lists(options.not_missing);
  for (const auto& [name, type] : options.types) {
    put_text(text, name);
    put(text, static_cast<std::uint8_t>(type));
  }
  return text;
}

}  // namespace espalier
