// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <vector>

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

// Not longer than a message should be.
std::string short_text(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  return std::string(text.substr(0, kLongest)) + (text.size() > kLongest ? "..." : "");
}

}  // namespace

std::string message_of(const Json::exception& error) {
  const std::string_view whole = error.what();
  const std::size_t name_end = whole.find("] ");
  return short_text(name_end == whole.npos ? whole : whole.substr(name_end + 2));
}

Json parse_json(std::string_view text, ErrorKind kind, const std::string& place) {
  const std::string error = shape_error(text);
  if (!error.empty()) throw Error(kind, fmt::format("{}: {}", place, error));
  std::vector<std::set<std::string>> open;  // the keys of each object that is still open
  const auto read_keys = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key &&
        !open.back().insert(parsed.get_ref<const std::string&>()).second) {
      throw Error(kind,
                  fmt::format("{}: the key {} is there twice", place, short_text(parsed.dump())));
    }
    return true;
  };
  try {
    return Json::parse(text, read_keys);
  } catch (const Json::exception& exception) {
    throw Error(kind, fmt::format("{}: not JSON: {}", place, message_of(exception)));
  }
}

}  // namespace espalier
