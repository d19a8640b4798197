// SPDX-License-Identifier: Apache-2.0
// UTF-8 characters, byte order marks, and spelling suggestions for error messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// The number of bytes of the first character of a text, and whether it is valid UTF-8. For invalid
// UTF-8: the number of bytes that could begin a character, at least 1. 0 for an empty text.
struct LeadingUtf8 {
  std::size_t length;
  bool is_good;
};

inline LeadingUtf8 leading_utf8(std::string_view text) {
  if (text.empty()) return {0, true};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xc2 || lead > 0xf4) return {1, false};
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  // The range of the second byte excludes overlong forms, surrogates and invalid code points.
  unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  for (std::size_t i = 1; i < length; ++i, low = 0x80, high = 0xbf) {
    if (i == text.size() || byte(i) < low || byte(i) > high) return {i, false};
  }
  return {length, true};
}

// The text without a leading byte order mark.
inline std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

// Whether the bytes are valid UTF-8.
inline bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto [length, is_good] = leading_utf8(text);
    if (!is_good) return false;
    text.remove_prefix(length);
  }
  return true;
}

// The edit distance in letters, ignoring ASCII case.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  std::vector<std::size_t> row(b.size() + 1);  // row[j]: distance of i letters of a and j of b
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i]) == lower(b[j]) ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// Longer words get no suggestion, which bounds the time.
inline constexpr std::size_t kLongestGuess = 100;

// The first of the closest candidates. None if it differs in more than two letters and more than a
// third of the word, or in all letters, or if the word is very long. `name` returns the text of a
// candidate.
template <class Candidates, class Name = std::identity>
std::optional<std::string> nearest(std::string_view word, const Candidates& candidates,
                                   Name name = {}) {
  if (word.size() > kLongestGuess) return std::nullopt;
  std::size_t limit = std::max<std::size_t>(2, word.size() / 3) + 1;
  std::optional<std::string> best;
  for (const auto& each : candidates) {
    const std::string_view candidate = std::invoke(name, each);
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (longer - std::min(word.size(), candidate.size()) >= limit) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= limit || distance >= longer) continue;
    limit = distance;
    best = std::string(candidate);
  }
  return best;
}

}  // namespace espalier
