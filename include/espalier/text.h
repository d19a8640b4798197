// SPDX-License-Identifier: Apache-2.0
// Text that users type and read: comma-separated lists, spelling suggestions, escaped names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// The parts between commas without surrounding blanks: " a, b c,," -> {"a", "b c", "", ""}.
std::vector<std::string> split_at_commas(std::string_view text);

/// The candidate that a user who typed `word` probably meant; none if no candidate is close.
std::optional<std::string> nearest_word(std::string_view word,
                                        std::span<const std::string> candidates);

/// Parses a memory limit in bytes: 512M, 2G, 1e9. K, M, G and T are powers of 1024. `what` names
/// the option in messages. Throws Error (argument) for less than 32M and for text that is not a
/// size.
std::uint64_t read_memory(std::string_view what, std::string_view text);

/// Escapes control characters as \n, \t or \x1b, so that hostile names in data or model files
/// cannot send commands to a terminal.
std::string escape_controls(std::string_view text);

}  // namespace espalier
