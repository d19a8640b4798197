// SPDX-License-Identifier: Apache-2.0
// The meaning of one field: a number, a missing value or a category.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace espalier {

// The text without surrounding spaces and tabs.
std::string_view trim(std::string_view text);

// A number of a file, as the nearest float and the nearest double.
struct Number {
  float rounded = 0;
  double exact = 0;

  bool was_rounded() const { return exact < rounded || exact > rounded; }
};

// Reads a number without an exponent, such as -12.5, at `at`. Returns the end of the number, or
// null if there is no number or if this arithmetic does not prove that `number` is the nearest one.
//
// Up to 2^53 the digits are exact in double, and so is the power of ten. Their quotient q is then
// the double nearest to the number x. Rounding is monotonic, so x and q are on the same side of
// every double other than q. Midpoints between floats are doubles here. Unless q is a midpoint, x
// and q therefore round to the same float.
// q round to the same float.
inline const char* parse_short_decimal(const char* at, const char* end, Number& number) {
  constexpr std::size_t kMaxDigits = 19;  // fits into 64 bits
  constexpr std::array<double, kMaxDigits + 1> kPowersOfTen = {
      1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
      1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
  constexpr std::uint64_t kBelowFloat = (1u << 29) - 1, kHalf = 1u << 28;  // bits of a double
  std::uint64_t digits = 0;
  const auto pass_digits = [&] {
    const char* const start = at;
    for (; at != end; ++at) {
      const auto digit = static_cast<std::uint8_t>(*at - '0');
      if (digit > 9) break;
      digits = 10 * digits + digit;
    }
    return static_cast<std::size_t>(at - start);
  };
  const bool is_negative = at != end && *at == '-';
  if (is_negative) ++at;
  std::size_t num_digits = pass_digits();
  std::size_t decimals = 0;
  if (at != end && *at == '.') {
    ++at;
    decimals = pass_digits();
    num_digits += decimals;
  }
  if (num_digits - 1 >= kMaxDigits || digits > std::uint64_t{1} << 53) return nullptr;
  const double quotient = static_cast<double>(digits) / kPowersOfTen[decimals];
  if ((std::bit_cast<std::uint64_t>(quotient) & kBelowFloat) == kHalf) return nullptr;
  number.exact = is_negative ? -quotient : quotient;
  number.rounded = static_cast<float>(number.exact);
  return at;
}

// Reads a decimal number such as 7, -.5, +1e5 or inf (any case, also infinity). Returns false for
// any other text. Numbers beyond the range of float or double become infinity or zero. The text
// must be trimmed.
bool parse_number(std::string_view text, Number& number);

// The shortest form of a plain number: 1 for 1.0 and 1.00, 0.5 for 0.50. Any other text is
// unchanged, including 007 and 1e3, which may be names.
std::string_view shortest_plain(std::string_view text);

// A field for messages: at most about 40 characters, with control characters escaped.
std::string printable(std::string_view text);

}  // namespace espalier
