// SPDX-License-Identifier: Apache-2.0
#include "words.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace espalier {

std::string number_text(bool value) { return value ? "True" : "False"; }

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";  // means missing, whatever its sign
  const double size = std::abs(value);
  if (size < 0x1p64 && size == std::floor(size))
    return (value < 0 ? "-" : "") + std::to_string(static_cast<std::uint64_t>(size));
  // Where Python and the writers of CSV files change to an exponent.
  constexpr double kSmallest = 1e-4;
  const auto as_float = static_cast<float>(value);
  const bool is_plain = size >= kSmallest && size < 0x1p64;
  char digits[64];
  const auto end = is_plain
                       ? std::to_chars(digits, std::end(digits), as_float, std::chars_format::fixed)
                       : std::to_chars(digits, std::end(digits), as_float);
  return {digits, end.ptr};
}

}  // namespace espalier
