// SPDX-License-Identifier: Apache-2.0
// What people type: lists with commas, and words that are nearly right.
#pragma once

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

}  // namespace espalier
