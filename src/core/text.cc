// SPDX-License-Identifier: Apache-2.0
#include "core/text.h"

#include <fmt/format.h>

#include <charconv>

#include "espalier/error.h"
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

std::uint64_t read_memory(std::string_view what, std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  constexpr std::uint64_t kLeast = std::uint64_t{32} << 20;
  double size = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, size);
  const std::size_t unit = stop == end ? kUnits.npos : kUnits.find(*stop);
  const bool is_whole = stop == end || (stop + 1 == end && unit != kUnits.npos);
  for (std::size_t u = 0; stop != end && u <= unit && is_whole; ++u) size *= 1024;
  if (error != std::errc() || !is_whole || !(size >= kLeast) || !(size < 1e18)) {
    throw Error(ErrorKind::argument,
                fmt::format("{}: '{}' is not a size of at least 32M, such as 512M or 2G", what,
                            escape_controls(text)));
  }
  return static_cast<std::uint64_t>(size);
}

std::string escape_controls(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (c == '\n' || c == '\r' || c == '\t') {
      result += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (c < 0x20 || c == 0x7f) {
      result += fmt::format("\\x{:02x}", c);
    } else if (c == 0xc2 && next >= 0x80 && next < 0xa0) {  // U+0080 to U+009F
      result += fmt::format("\\x{:02x}", next);
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace espalier
