// SPDX-License-Identifier: Apache-2.0
#include "core/text.h"

#include "espalier/text.h"

namespace espalier {

std::vector<std::string> split_at_commas(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    part.remove_prefix(std::min(part.find_first_not_of(kBlanks), part.size()));
    parts.emplace_back(part.substr(0, part.find_last_not_of(kBlanks) + 1));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::optional<std::string> nearest_word(std::string_view word,
                                        std::span<const std::string> candidates) {
  return nearest(word, candidates);
}

}  // namespace espalier
