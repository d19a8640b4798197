// SPDX-License-Identifier: Apache-2.0
// The numbers and words of a page: JSON that is short and that no browser takes for markup.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/json.h"

namespace espalier {

/// To five digits, which is more than a chart shows; null for what is not finite.
Json rounded(double value);

template <class Values>
Json rounded_list(const Values& values) {
  Json list = Json::array();
  for (const auto value : values) list.push_back(rounded(static_cast<double>(value)));
  return list;
}

/// Little-endian bytes as base64: every bit of the numbers, and half as long as their digits.
std::string base64(std::span<const float> numbers);
std::string base64(std::span<const std::int32_t> numbers);
std::string base64(std::string_view bytes);

/// JSON to stand within a <script> element: nothing in it can end that, open another one or begin a
/// comment, since <, > and & are written as \u003c, \u003e and \u0026. Bytes that are not UTF-8 are
/// replaced.
std::string script_text(const Json& json);

}  // namespace espalier
