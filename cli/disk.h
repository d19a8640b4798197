// SPDX-License-Identifier: Apache-2.0
// Decides whether training data is in memory or on disk.
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
  std::string cache;         // a folder; empty: no cache
  std::uint64_t memory = 0;  // bytes; 0: the free memory
};

void add_disk_flags(CLI::App& app, DiskFlags& flags);

/// Where the training data is.
struct TablePlace {
  std::optional<DiskFolder> disk = {};  // nothing: in memory
  std::size_t piece_bytes = 0;          // of text per piece; 0: the library's default
  std::uint64_t memory = 0;             // memory limit of training; 0: none
};

/// Chooses the place of the data and creates the folder of --cache. Temporary data goes to the
/// folder of the model, `output`. Reports a choice that no flag made to `say`.
TablePlace choose_place(const DiskFlags& flags, const std::string& table, const std::string& output,
                        const std::function<void(const std::string&)>& say);

}  // namespace espalier
