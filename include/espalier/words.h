// SPDX-License-Identifier: Apache-2.0
// The names of enumerators in flags, JSON and files: one list per type.
#pragma once

#include <optional>
#include <string_view>

namespace espalier {

/// Specialized for each enum of the API: `list` has the name of each enumerator, in order.
template <class Enum>
struct Words;

template <class Enum>
constexpr std::string_view to_word(Enum value) {
  return Words<Enum>::list[static_cast<std::size_t>(value)];
}

template <class Enum>
constexpr std::optional<Enum> from_word(std::string_view word) {
  if (word == "automatic") word = "auto";  // as earlier versions wrote it
  for (std::size_t i = 0; i < std::size(Words<Enum>::list); ++i) {
    if (Words<Enum>::list[i] == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace espalier
