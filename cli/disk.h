// SPDX-License-Identifier: Apache-2.0
// Whether a table is trained on in memory or from disk.
#pragma once

#include <CLI/App.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "espalier/csv.h"

namespace espalier {

struct DiskFlags {
  std::string cache;         // a folder; empty: none is kept
  std::uint64_t memory = 0;  // bytes; 0: as many as are free
};

void add_disk_flags(CLI::App& app, DiskFlags& flags);

/// Where a table is while it is trained on.
struct TablePlace {
  std::optional<DiskFolder> disk = {};  // nothing: in memory
  std::size_t piece_bytes = 0;          // of text that is read at a time; 0: the library chooses
  std::uint64_t memory = 0;             // that training may take; 0: any
};

/// Where the table goes; makes the folder of --cache. `output` is the model, beside which a table
/// lies that nobody keeps. Tells `say` of a choice that no flag made.
TablePlace choose_place(const DiskFlags& flags, const std::string& table, const std::string& output,
                        const std::function<void(const std::string&)>& say);

}  // namespace espalier
