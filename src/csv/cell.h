// SPDX-License-Identifier: Apache-2.0
// What a cell of text means: a number, a missing value or a word.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace espalier {

// Without the spaces and tabs around it.
std::string_view trim(std::string_view text);

// A number of a file, as the float and as the double nearest to it.
struct Number {
  float rounded = 0;
  double exact = 0;

  bool was_rounded() const { return exact < rounded || exact > rounded; }
};

// Reads a number without an exponent, such as -12.5, at `at`; returns where it stops, or null where
// there is none or the arithmetic here does not prove that `number` is nearest to it.
//
// Up to 2^53 the digits are exact in double, as is the power of ten, so their quotient q is the
// double nearest to the number x. Rounding is monotone: x and q lie on the same side of each double
// that q is not. The halves between two floats are doubles here, so unless q is one of them, x and
// q round to the same float.
inline const char* parse_short_decimal(const char* at, const char* end, Number& number) {
  constexpr std::size_t kMaxDigits = 19;  // that many fit into 64 bits
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

// Reads a decimal number such as 7, -.5, +1e5 or inf (any case, also infinity); false if the text
// is anything else. Beyond the range of float or double that one is an infinity or zero. The text
// must be trimmed.
bool parse_number(std::string_view text, Number& number);

// The shortest way to write a plain number: 1 for 1.0 and 1.00, 0.5 for 0.50. Any other text as it
// is, also 007 and 1e3, which may be names.
std::string_view shortest_plain(std::string_view text);

// A cell for messages: at most about 40 characters, control characters escaped.
std::string printable(std::string_view text);

}  // namespace espalier
