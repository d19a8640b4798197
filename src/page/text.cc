// SPDX-License-Identifier: Apache-2.0
#include "page/text.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace espalier {

namespace {

std::string base64_of_bytes(std::span<const unsigned char> bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? bytes[i + k] : 0u);
    for (std::size_t k = 0; k < 4; ++k) {
      const bool is_there = i + k < bytes.size() + 1;
      text += is_there ? kDigits[three >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

template <class Number>
std::string base64_of(std::span<const Number> numbers) {
  std::vector<unsigned char> bytes(numbers.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return base64_of_bytes(bytes);
}

}  // namespace

Json rounded(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr);
}

std::string base64(std::span<const float> numbers) { return base64_of(numbers); }
std::string base64(std::span<const std::int32_t> numbers) { return base64_of(numbers); }

std::string base64(std::string_view bytes) {
  return base64_of_bytes({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()});
}

std::string script_text(const Json& json) {
  std::string text;
  for (const char c : json.dump()) {
    if (c == '<' || c == '>' || c == '&') {
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace espalier
