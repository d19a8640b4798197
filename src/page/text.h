// SPDX-License-Identifier: Apache-2.0
// Numbers and text for the page: short JSON that browsers cannot interpret as markup.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/json.h"

namespace espalier {

/// Rounded to five digits, more than a chart shows; null for infinities and NaN.
Json rounded(double value);

template <class Values>
Json rounded_list(const Values& values) {
  Json list = Json::array();
  for (const auto value : values) list.push_back(rounded(static_cast<double>(value)));
  return list;
}

/// Little-endian bytes as base64: all bits of the numbers, in half the length of digits.
std::string base64(std::span<const float> numbers);
std::string base64(std::span<const std::int32_t> numbers);
std::string base64(std::string_view bytes);

/// JSON for a <script> element: it writes <, > and & as \u003c, \u003e and \u0026, so that the text
/// cannot end the element, open another one or begin a comment. Bytes that are not UTF-8 are
/// replaced.
std::string script_text(const Json& json);

}  // namespace espalier
