// SPDX-License-Identifier: Apache-2.0
// What people type and read: lists with commas, words that are nearly right, names on a terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// The parts between commas, without the blanks around them: " a, b c,," -> {"a", "b c", "", ""}.
std::vector<std::string> split_at_commas(std::string_view text);

/// The candidate that somebody who typed `word` probably meant; none if all are too far from it.
std::optional<std::string> nearest_word(std::string_view word,
                                        std::span<const std::string> candidates);

/// How much memory training may take, in bytes: 512M, 2G, 1e9; K, M, G and T are powers of 1024.
/// `what` is what a message calls it. Throws Error (argument) for less than 32M and for what is no
/// size.
std::uint64_t read_memory(std::string_view what, std::string_view text);

/// Control characters as \n, \t or \x1b, so that a name of a table or of a model file that
/// somebody made up cannot command a terminal.
std::string escape_controls(std::string_view text);

}  // namespace espalier
