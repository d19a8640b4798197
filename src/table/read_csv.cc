// SPDX-License-Identifier: Apache-2.0
// Reads whole tables: the head by csv/head, the rows by csv/rows.
#include "core/default_floats.h"
#include "core/file.h"
#include "core/gzip.h"
#include "csv/head.h"
#include "csv/pieces.h"
#include "csv/rows.h"
#include "espalier/csv.h"
#include "table/stored_table.h"

namespace espalier {

Table parse_csv_in_chunks(std::string_view text, const CsvOptions& options, std::string_view name,
                          std::size_t chunk_bytes) {
  const DefaultFloats floats;
  check_options(options);
  const CsvHead head(text, options, name);
  return head.read(head.rows(), chunk_bytes);
}

Table parse_csv(std::string_view text, const CsvOptions& options, std::string_view name) {
  return parse_csv_in_chunks(text, options, name, 0);
}

Table read_csv(const std::string& path, const CsvOptions& options) {
  const DefaultFloats floats;
  check_options(options);
  const std::vector<Shard> shards = shards_of(path);
  if (shards.size() > 1 || shards[0].path != path) {
    Table table = read_shards(shards, options);
    table.name = path;
    return table;
  }
  const std::string& name = shards[0].name;
  const FileBytes file = read_file(path);
  if (!is_gzip(file.view())) return parse_csv(file.view(), options, name);
  return parse_csv(gunzip(file.view(), name), options, name);
}

}  // namespace espalier
