// SPDX-License-Identifier: Apache-2.0
// Tables that are larger than memory: their columns are files that are mapped.
//
//   espalier::DiskTableWriter writer("trades", {"/scratch"});
//   while (espalier::Table piece = next_rows(); piece.num_rows > 0) writer.add(piece);
//   auto result = espalier::train(writer.finish(), {.label = "price"}, {.scratch = "/scratch"});
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "espalier/table.h"

namespace espalier {

/// Where a table on disk lies.
struct DiskFolder {
  std::string path;    ///< a folder, which must exist
  bool keeps = false;  ///< for later runs; else nothing is left when the table is gone
};

/// Makes a table of pieces of rows, in memory that does not grow with them. Any number of threads
/// and processes may share a folder.
class DiskTableWriter {
 public:
  /// `name` is that of the table. A folder that keeps it keeps it under that name, for
  /// find_disk_table with the same `source`, which says what the rows are. A folder whose path is
  /// empty stands for memory. Throws Error (file).
  DiskTableWriter(std::string name, DiskFolder to, std::string source = {});
  ~DiskTableWriter();
  DiskTableWriter(const DiskTableWriter&) = delete;
  DiskTableWriter& operator=(const DiskTableWriter&) = delete;

  /// The next rows. Columns and types are those of the first piece; each piece numbers its words by
  /// itself. Throws Error (data) for other columns, and Error (file) if the folder cannot be
  /// written.
  void add(const Table& piece);

  /// The table of all rows; nothing may be added behind them. A writer that goes without it leaves
  /// nothing. Throws Error (file).
  Table finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The table that an earlier run kept under this name, if it is of the same source, of this version
/// of the library, and whole.
std::optional<Table> find_disk_table(const std::string& name, const std::string& folder,
                                     const std::string& source);

}  // namespace espalier
