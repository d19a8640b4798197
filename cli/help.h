// SPDX-License-Identifier: Apache-2.0
// What --help and --help-all print. `train` and `tune` have more flags than anyone reads: --help
// shows the everyday ones.
#pragma once

#include <CLI/App.hpp>

namespace espalier {

/// Descriptions are wrapped in a column of their own.
void use_help_style(CLI::App& app);

/// Whether a command has flags that --help leaves out.
bool has_rare_flags(const CLI::App& command);

/// Leaves them out of the help, which then says how many they are.
void hide_rare_flags(CLI::App& command);

}  // namespace espalier
