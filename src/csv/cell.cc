// SPDX-License-Identifier: Apache-2.0
#include "csv/cell.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "espalier/csv.h"
#include "espalier/text.h"

namespace espalier {
namespace {

// For a decimal number outside the range of float or double: whether it is too large, not too
// small.
bool is_huge(std::string_view text) {
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, e);
  long long exponent = 0;
  if (e != text.size()) {
    std::string_view digits = text.substr(e + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, failure] = std::from_chars(digits.begin(), digits.end(), exponent);
    if (failure != std::errc()) return !digits.starts_with('-');
  }
  const auto point = static_cast<long long>(std::min(mantissa.find('.'), mantissa.size()));
  const auto first = static_cast<long long>(mantissa.find_first_of("123456789"));
  return exponent > first - point;
}

template <class Float>
bool parse_long_number(std::string_view text, Float& value) {
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  // from_chars accepts "nan(...)", which is not a number in CSV files.
  if (stop != end || failure == std::errc::invalid_argument || text.ends_with(')')) return false;
  if (failure == std::errc::result_out_of_range) {
    value = is_huge(text) ? std::numeric_limits<Float>::infinity() : 0;
  }
  return true;
}

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

}  // namespace

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

bool parse_number(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  if (!text.empty() && parse_short_decimal(text.data(), end, number) == end) return true;
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('-')) return false;  // from_chars would accept a second sign
  if (!parse_long_number(text, number.rounded) || !parse_long_number(text, number.exact))
    return false;
  if (is_negative) number = {-number.rounded, -number.exact};
  return true;
}

std::string_view shortest_plain(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  const std::size_t point = digits.find('.');
  const bool is_plain = digits.find_first_not_of(".0123456789") == digits.npos && point != 0 &&
                        point != digits.npos && digits.find('.', point + 1) == digits.npos &&
                        (digits[0] != '0' || point == 1);
  if (!is_plain) return text;
  std::size_t size = text.find_last_not_of('0') + 1;
  if (text[size - 1] == '.') --size;
  const std::string_view shortest = text.substr(0, size);
  return shortest == "-0" ? shortest.substr(1) : shortest;
}

bool means_missing(std::string_view text) noexcept {
  constexpr std::string_view kWords[] = {"", "?", "na", "n/a", "nan", "null"};
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                      [](char a, char b) { return to_lower(a) == b; });
  });
}

bool means_missing(std::string_view cell, const std::vector<std::string>& missing,
                   const std::vector<std::string>& not_missing) noexcept {
  // Equal plain numbers match: 96 and 96.0.
  const std::string_view shortest = missing.empty() ? cell : shortest_plain(cell);
  if (std::any_of(missing.begin(), missing.end(), [&](const std::string& word) {
        return cell == word || shortest == shortest_plain(word);
      })) {
    return true;
  }
  return means_missing(cell) && (cell.empty() || std::find(not_missing.begin(), not_missing.end(),
                                                           cell) == not_missing.end());
}

std::string printable(std::string_view text) {
  constexpr std::size_t kMaxSize = 40;
  const bool is_cut = text.size() > kMaxSize;
  if (is_cut) {
    std::size_t size = kMaxSize;
    while (size > 0 && (text[size] & 0xC0) == 0x80) --size;  // not inside a UTF-8 character
    text = text.substr(0, size);
  }
  const std::string result = escape_controls(text);
  return is_cut ? result + "..." : result;
}

}  // namespace espalier
