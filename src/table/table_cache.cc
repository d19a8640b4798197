// SPDX-License-Identifier: Apache-2.0
// Creates tables on disk, or finds those of an earlier run.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <utility>

#include "core/bytes.h"
#include "core/default_floats.h"
#include "core/file.h"
#include "espalier/csv.h"
#include "espalier/disk_table.h"
#include "espalier/error.h"
#include "espalier/version.h"
#include "table/column_writer.h"
#include "table/division.h"
#include "table/gather.h"
#include "table/shared_csv.h"
#include "table/stored_table.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

// Standard input cannot be read twice.
Shard copy_input(const Shard& input, const std::string& folder) {
  const std::string path = folder + "/input";
  ByteSource source(input.path);
  for (std::string bytes = source.next(); !bytes.empty(); bytes = source.next())
    append_to_file(path, bytes);
  return {path, input.name};
}

// The table of an earlier run, if it has the same source and is complete. If another process
// replaces it meanwhile, a checksum does not match.
std::optional<Table> find_table(const std::string& entry, const std::string& source) {
  try {
    if (!fs::exists(entry + "/table")) return std::nullopt;
    return find_stored_table(entry, source);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Where a folder keeps the table of this name.
std::string entry_of(const std::string& folder, const std::string& name) {
  return fmt::format("{}/espalier-{:016x}", folder, checksum(name));
}

std::string with_version(const std::string& source) {
  std::string text;
  put_text(text, kVersion);
  return text + source;
}

}  // namespace

struct DiskTableWriter::State {
  std::string name;
  DiskFolder to;
  std::string source;
  std::optional<TemporaryEntry> made;  // none: in memory
  PieceWriter writer;
};

DiskTableWriter::DiskTableWriter(std::string name, DiskFolder to, std::string source) {
  std::optional<TemporaryEntry> made;
  if (!to.path.empty()) {
    remove_stale_temporaries(to.path);
    made.emplace(to.path);
  }
  PieceWriter writer(made ? made->path() : "");
  state_.reset(new State{std::move(name), std::move(to), with_version(source), std::move(made),
                         std::move(writer)});
}

DiskTableWriter::~DiskTableWriter() = default;

void DiskTableWriter::add(const Table& piece) {
  const DefaultFloats floats;
  state_->writer.add(piece);
}

Table DiskTableWriter::finish() {
  const DefaultFloats floats;
  const auto named = [&](Table table) {
    table.name = state_->name;
    return table;
  };
  StoredTable stored = state_->writer.finish();
  if (!state_->made) return named(table_of(std::move(stored)));
  stored.source = state_->source;
  const std::string folder = state_->made->path();
  write_file_atomically(folder + "/table", to_bytes(stored));
  Table table = open_stored_table(folder);
  if (state_->to.keeps) state_->made->rename_to(entry_of(state_->to.path, state_->name));
  return named(std::move(table));
}

std::optional<Table> find_disk_table(const std::string& name, const std::string& folder,
                                     const std::string& source) {
  std::optional<Table> found = find_table(entry_of(folder, name), with_version(source));
  if (found) found->name = name;
  return found;
}

Table read_csv_to_disk(const std::string& path, const CsvOptions& options, const DiskFolder& to,
                       std::size_t piece_bytes) {
  const DefaultFloats floats;
  std::vector<Shard> shards = shards_of(path);
  const bool is_input = path == "-";
  remove_stale_temporaries(to.path);
  const auto named = [&](Table table) {
    table.name = is_input ? shards[0].name : path;
    return table;
  };
  const std::string entry = entry_of(to.path, fs::absolute(path).string());
  if (to.keeps && !is_input) {
    if (auto table = find_table(entry, source_of(shards, options))) return named(*std::move(table));
  }
  TemporaryEntry input(to.path), made(to.path);
  if (is_input) shards = {copy_input(shards[0], input.path())};
  store_table(shards, options, made.path(), piece_bytes);
  // Opened before it is renamed, because another process may store the table of other options under
  // the name.
  Table table = open_stored_table(made.path());
  if (to.keeps && !is_input) made.rename_to(entry);
  return named(std::move(table));
}

std::optional<Table> read_csv_of_rank(const std::string& path, const CsvOptions& options,
                                      const DiskFolder& to, Ranks& ranks, std::size_t piece_bytes,
                                      std::size_t many_rows) {
  const DefaultFloats floats;
  const std::vector<Shard> shards = shards_of(path);
  const auto all_say = [&](bool own) {
    return std::ranges::count(gather_values(ranks, static_cast<char>(own)), 0) == 0;
  };
  if (!all_say(can_be_divided(shards) && options.keep_text.empty())) return std::nullopt;
  const auto named = [&](Table table) {
    table.name = path;
    const auto counts = gather_values(ranks, static_cast<std::uint64_t>(table.num_rows));
    table.first_row =
        std::accumulate(counts.begin(), counts.begin() + ranks.rank(), std::size_t{0});
    return table;
  };
  const std::string files = source_of(shards, options);
  const std::string who = fmt::format("rank {} of {}", ranks.rank(), ranks.size());
  const std::string entry = entry_of(to.path, fs::absolute(path).string() + who);
  if (to.keeps) {
    auto found = find_table(entry, files + who);
    if (all_say(found.has_value())) return named(*std::move(found));
  }
  const DividedText text(shards, options);
  const RankText share = text.divide(ranks);
  if (share.all_rows < many_rows) return std::nullopt;
  std::optional<TemporaryEntry> made;
  if (!to.path.empty() && share.num_rows > 0) {
    remove_stale_temporaries(to.path);
    made.emplace(to.path);
  }
  const std::string folder = made ? made->path() : "";
  StoredTable stored = read_rank_text(text, share, options, folder, piece_bytes, ranks);
  if (source_of(shards, options) != files)
    throw Error(ErrorKind::file, fmt::format("{}: changed while it was read", path));
  if (!made) return named(table_of(std::move(stored)));
  stored.source = files + who;
  write_file_atomically(folder + "/table", to_bytes(stored));
  Table table = open_stored_table(folder);
  if (to.keeps) made->rename_to(entry);
  return named(std::move(table));
}

std::optional<Table> read_csv_of_rank(const std::string& path, const CsvOptions& options,
                                      const DiskFolder& to, Ranks& ranks, std::size_t piece_bytes) {
  return read_csv_of_rank(path, options, to, ranks, piece_bytes, kManyRows);
}

}  // namespace espalier
