// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"

#include <fmt/format.h>

#include <array>

namespace espalier {

namespace {

// What is wrong with the brackets and keys outside strings, or an empty string. As far as text is
// JSON it is read as the parser reads it; beyond that the parser refuses it anyway.
std::string shape_error(std::string_view text) {
  std::array<int, kMaxJsonDepth + 1> num_keys{};  // of what is open at each depth
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      in_string = !in_string;
    } else if (in_string) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) return fmt::format("nested deeper than {}", kMaxJsonDepth);
      num_keys[depth] = 0;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    } else if (c == ':' && ++num_keys[depth] > kMaxJsonKeys) {
      return fmt::format("an object of more than {} keys", kMaxJsonKeys);
    }
  }
  return {};
}

}  // namespace

std::string message_of(const Json::exception& error) {
  constexpr std::size_t kLongest = 200;
  const std::string_view whole = error.what();
  const std::size_t name_end = whole.find("] ");
  const std::string_view text = name_end == whole.npos ? whole : whole.substr(name_end + 2);
  return std::string(text.substr(0, kLongest)) + (text.size() > kLongest ? "..." : "");
}

Json parse_json(std::string_view text, ErrorKind kind, const std::string& place) {
  const std::string error = shape_error(text);
  if (!error.empty()) throw Error(kind, fmt::format("{}: {}", place, error));
  try {
    return Json::parse(text);
  } catch (const Json::exception& exception) {
    throw Error(kind, fmt::format("{}: not JSON: {}", place, message_of(exception)));
  }
}

}  // namespace espalier
