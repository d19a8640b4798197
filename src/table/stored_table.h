// SPDX-License-Identifier: Apache-2.0
// A table in files, for tables that are larger than memory: read once from text, then mapped.
//
// A folder holds one table: `table`, which says what the columns are, and of column c the files
// `c.numbers` and, where floats blur those, `c.exact`, or `c.codes`: the cells as they are in
// memory. The bytes are no promise: another version of the library reads the text again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "csv/pieces.h"
#include "espalier/csv.h"
#include "espalier/table.h"

namespace espalier {

/// What `table` says.
struct StoredColumn {
  Column column;               // without cells
  std::uint64_t checksum = 0;  // of the numbers or codes
  bool has_exact = false;
  std::uint64_t exact_checksum = 0;
};
struct StoredTable {
  std::string source;  // files and options that it was read from
  std::uint64_t num_rows = 0;
  std::vector<StoredColumn> columns;
};

std::string to_bytes(const StoredTable& table);

/// Throws Error (format) for anything but what to_bytes gives.
StoredTable parse_stored_table(std::string_view bytes, const std::string& name);

/// The columns of a piece that turned out to have words, though their types were open.
std::vector<std::string> new_words(const Table& piece, const CsvOptions& options);

/// Reads a text into the files of a folder, piece by piece, and describes them. Cells, types and
/// words are those of read_csv. Throws as read_csv does, and Error (file) if a file cannot be
/// written or the text changes meanwhile.
StoredTable store_table(const std::vector<Shard>& shards, const CsvOptions& options,
                        const std::string& folder, std::size_t piece_bytes = 0);

/// The same into memory.
Table read_shards(const std::vector<Shard>& shards, const CsvOptions& options,
                  std::size_t piece_bytes = 0);

/// The table of columns that are in memory.
Table table_of(StoredTable stored);

/// The table of a folder, its columns mapped. Throws Error (format) if files are absent, damaged or
/// of another size.
Table open_stored_table(const std::string& folder);

/// The same of a folder whose table was read from `source`; nothing if it was read from another.
std::optional<Table> find_stored_table(const std::string& folder, const std::string& source);

/// What a table is read from: its files with their inodes, sizes and times, and the options of
/// reading. Waits some milliseconds if a file has just changed, so that a change behind the call
/// gives another source.
std::string source_of(const std::vector<Shard>& shards, const CsvOptions& options);

}  // namespace espalier
