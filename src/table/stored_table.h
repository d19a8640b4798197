// SPDX-License-Identifier: Apache-2.0
// A table in files, for tables larger than memory: read once from text, then memory-mapped.
//
// A folder holds one table. The file `table` describes the columns. Column c has the files
// `c.numbers` and, if floats blur the numbers, `c.exact`; or `c.codes`. They have the values as in
// memory. The format is not stable: another version of the library reads the text again.
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

/// The contents of the file `table`.
struct StoredColumn {
  Column column;               // without values
  std::uint64_t checksum = 0;  // of the numbers or codes
  bool has_exact = false;
  std::uint64_t exact_checksum = 0;
};
struct StoredTable {
  std::string source;  // the files and options that it was read from
  std::uint64_t num_rows = 0;
  std::vector<StoredColumn> columns;
};

std::string to_bytes(const StoredTable& table);

/// Throws Error (format) for anything except the result of to_bytes.
StoredTable parse_stored_table(std::string_view bytes, const std::string& name);

/// The columns of a piece that are categorical although their types were open.
std::vector<std::string> new_words(const Table& piece, const CsvOptions& options);

/// Reads text into the files of a folder, piece by piece, and describes them. Values, types and
/// categories are those of read_csv. Throws as read_csv does, and Error (file) if a file cannot be
/// written or the text changes meanwhile.
StoredTable store_table(const std::vector<Shard>& shards, const CsvOptions& options,
                        const std::string& folder, std::size_t piece_bytes = 0);

/// The same into memory.
Table read_shards(const std::vector<Shard>& shards, const CsvOptions& options,
                  std::size_t piece_bytes = 0);

/// The table of columns in memory.
Table table_of(StoredTable stored);

/// The table of a folder, memory-mapped. Throws Error (format) if files are absent, damaged or have
/// the wrong size.
Table open_stored_table(const std::string& folder);

/// The same, if the table was read from `source`; else nothing.
std::optional<Table> find_stored_table(const std::string& folder, const std::string& source);

/// Identifies the data of a table: its files with inodes, sizes and times, and the reading options.
/// Waits a few milliseconds if a file has just changed, so that a later change gives another
/// source.
std::string source_of(const std::vector<Shard>& shards, const CsvOptions& options);

}  // namespace espalier
