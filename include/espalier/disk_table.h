// SPDX-License-Identifier: Apache-2.0
// Tables that are larger than memory: their columns are memory-mapped files.
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

/// The folder of a table on disk.
struct DiskFolder {
  std::string path;    ///< an existing folder
  bool keeps = false;  ///< keep the table for later runs; else it is deleted with the Table
};

/// Writes a table piece by piece. Memory does not grow with the number of rows. Any number of
/// threads and processes may share a folder.
class DiskTableWriter {
 public:
  /// `name` is the name of the table, under which a folder keeps it. `source` describes the rows;
  /// find_disk_table returns the table only for the same source. An empty folder path means memory.
  /// Throws Error (file).
  DiskTableWriter(std::string name, DiskFolder to, std::string source = {});
  ~DiskTableWriter();
  DiskTableWriter(const DiskTableWriter&) = delete;
  DiskTableWriter& operator=(const DiskTableWriter&) = delete;

  /// Adds rows. All pieces have the columns and types of the first piece; each has its own category
  /// codes. Throws Error (data) for other columns, and Error (file) if the folder cannot be
  /// written.
  void add(const Table& piece);

  /// Returns the table of all rows. Call it once, after the last add(). A writer that is destroyed
  /// without it leaves no files. Throws Error (file).
  Table finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The table that an earlier run kept under this name, if it is complete, has the same source and
/// was written by this version of the library.
std::optional<Table> find_disk_table(const std::string& name, const std::string& folder,
                                     const std::string& source);

}  // namespace espalier
