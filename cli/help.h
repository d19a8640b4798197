// SPDX-License-Identifier: Apache-2.0
// The text of --help and --help-all. `train` and `tune` have many flags; --help shows the everyday
// ones.
#pragma once

#include <CLI/App.hpp>

namespace espalier {

/// Wraps descriptions in a column.
void use_help_style(CLI::App& app);

/// Whether --help hides flags of a command.
bool has_rare_flags(const CLI::App& command);

/// Hides these flags and adds a line with their number.
void hide_rare_flags(CLI::App& command);

}  // namespace espalier
