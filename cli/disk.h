// SPDX-License-Identifier: Apache-2.0
// Whether a table is trained on in memory or from disk.
#pragma once

#include <CLI/App.hpp>
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

/// Where the table goes, or nothing if it suits memory; makes the folder of --cache. `output` is the
/// model, beside which a table lies that nobody keeps. Tells `say` of a choice that no flag made.
std::optional<DiskFolder> choose_disk(const DiskFlags& flags, const std::string& table,
                                      const std::string& output,
                                      const std::function<void(const std::string&)>& say);

}  // namespace espalier
