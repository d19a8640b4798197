// SPDX-License-Identifier: Apache-2.0
#include "csv/cell.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "core/random.h"
#include "espalier/csv.h"
#include "support/effort.h"

namespace espalier {
namespace {

TEST(ParseNumber, ReadsDecimals) {
  const std::pair<const char*, float> cases[] = {
      {"0", 0.0f},
      {"7", 7.0f},
      {"-7", -7.0f},
      {"+7", 7.0f},
      {"007", 7.0f},
      {"5.", 5.0f},
      {".5", 0.5f},
      {"-.5", -0.5f},
      {"0.1", 0.1f},
      {"1e5", 1e5f},
      {"1E-5", 1e-5f},
      {"+2.5e+3", 2500.0f},
      {"16777217", 16777216.0f},  // one past what float counts to
      {"99999999", 1e8f},
      {"3.14159265358979", 3.14159265f},
      {"123456789012345678901234567890", 1.2345679e29f},
      {"1e-45", 1e-45f},  // the least float above zero
      {"inf", INFINITY},
      {"-Infinity", -INFINITY},
      {"+INF", INFINITY},
  };
  for (const auto& [text, wanted] : cases) {
    Number number;
    EXPECT_TRUE(parse_number(text, number)) << text;
    EXPECT_EQ(number.rounded, wanted) << text;
  }
}

TEST(ParseNumber, GoesToInfinityAndZeroBeyondTheRangeOfFloat) {
  const std::string zeros(400, '0');
  const std::pair<std::string, float> cases[] = {
      {"1e39", INFINITY},
      {"-1e39", -INFINITY},
      {"1e400", INFINITY},
      {"1" + zeros, INFINITY},
      {"1" + zeros + ".5", INFINITY},
      {"0.00001e400", INFINITY},
      {"1e99999999999999999999", INFINITY},
      {"1e-50", 0.0f},
      {"1e-400", 0.0f},
      {"12345.6e-400", 0.0f},
      {"0." + zeros + "1", 0.0f},
      {"1e-99999999999999999999", 0.0f},
      {"0e99999", 0.0f},
  };
  for (const auto& [text, wanted] : cases) {
    Number number;
    EXPECT_TRUE(parse_number(text, number)) << text;
    EXPECT_EQ(number.rounded, wanted) << text;
  }
}

TEST(ParseNumber, RefusesAnythingElse) {
  for (const char* text :
       {"",      ".",    "+",    "-",      "--1",  "+-1", "-+1",       "1 2", "1,2",
        "1.2.3", "0x10", "1e",   "e5",     "1e+",  "abc", "1a",        "$5",  "5%",
        "1_000", "in",   "info", "nan(1)", "12/3", "1-2", "2019-01-01"}) {
    Number number;
    EXPECT_FALSE(parse_number(text, number)) << text;
  }
}

RC_GTEST_PROP(ParseNumber, AgreesWithTheStandardLibraryOnShortDecimals, ()) {
  const int digits = *rc::gen::inRange(0, 100'000'000);
  std::string text = std::to_string(digits);
  text.insert(*rc::gen::inRange<std::size_t>(0, text.size() + 1), ".");
  float wanted = 0;
  std::from_chars(text.data(), text.data() + text.size(), wanted);
  Number number;
  RC_ASSERT(parse_number(text, number));
  RC_ASSERT(number.rounded == wanted);
}

RC_GTEST_PROP(ParseNumber, ReadsBackWhatWasPrinted, (float number)) {
  std::array<char, 32> digits;
  const char* end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  Number value;
  RC_ASSERT(parse_number({digits.begin(), end}, value));
  RC_ASSERT(value.rounded == number);
}

// Both must read the same number. Infinities and zeros beyond the range have tests of their own.
void expect_as_the_standard_library(const std::string& text) {
  Number wanted, number;
  std::from_chars(text.data(), text.data() + text.size(), wanted.rounded);
  std::from_chars(text.data(), text.data() + text.size(), wanted.exact);
  ASSERT_TRUE(parse_number(text, number)) << text;
  const auto bits = [](const Number& n) {
    return std::pair(std::bit_cast<std::uint32_t>(n.rounded),
                     std::bit_cast<std::uint64_t>(n.exact));
  };
  ASSERT_EQ(bits(number), bits(wanted)) << text;
}

TEST(ParseNumber, AgreesWithTheStandardLibraryOnRandomDigits) {
  Random random(1);
  for (int i = 0; i < effort(1'000'000, 50'000); ++i) {
    std::string text = random.below(4) == 0 ? "-" : "";
    const std::size_t sign = text.size(), num_digits = 1 + random.below(24);
    for (std::size_t d = 0; d < num_digits; ++d) {
      text += static_cast<char>('0' + random.below(10));
    }
    if (random.below(4) != 0) text.insert(sign + random.below(num_digits + 1), ".");
    expect_as_the_standard_library(text);
  }
}

// Halves between two floats, and the decimals nearest to them on either side, are where a number
// that is rounded twice goes wrong.
TEST(ParseNumber, AgreesWithTheStandardLibraryBesideTheHalvesOfFloats) {
  Random random(2);
  for (int i = 0; i < effort(30'000, 3'000); ++i) {
    const auto exponent = static_cast<int>(random.below(60)) - 36;
    const double half =
        std::ldexp(static_cast<double>(2 * (1u << 23 | random.below(1u << 23)) + 1), exponent - 24);
    std::array<char, 400> buffer;
    const char* end =
        std::to_chars(buffer.begin(), buffer.end(), half, std::chars_format::fixed).ptr;
    const std::string exact(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    expect_as_the_standard_library(exact);
    for (std::size_t size = 1; size <= exact.size(); ++size) {
      if (exact[size - 1] == '.') continue;
      std::string cut = exact.substr(0, size);
      expect_as_the_standard_library(cut);
      if (cut.back() == '9') continue;
      ++cut.back();
      expect_as_the_standard_library(cut);
    }
  }
}

TEST(ShortestPlain, WritesTheSameNumberWithTheFewestDigits) {
  const std::pair<const char*, const char*> cases[] = {
      {"1", "1"},       {"1.0", "1"},       {"1.00", "1"},  {"1.", "1"},    {"-2.50", "-2.5"},
      {"0.0", "0"},     {"-0.0", "0"},      {"10.0", "10"}, {"100", "100"}, {"0.10", "0.1"},
      {"007", "007"},   {"007.0", "007.0"}, {"1e0", "1e0"}, {".50", ".50"}, {"1.2.0", "1.2.0"},
      {"a1.0", "a1.0"}, {"", ""},           {"-", "-"},     {".", "."},     {"1.0a", "1.0a"},
      {"+1.0", "+1.0"}, {"--1.0", "--1.0"}, {"-.0", "-.0"}};
  for (const auto& [text, wanted] : cases) EXPECT_EQ(shortest_plain(text), wanted) << text;
}

TEST(Missing, IsAnEmptyCellOrAUsualWordInAnyCase) {
  for (const char* text :
       {"", "?", "NA", "na", "N/A", "n/a", "NaN", "nan", "NULL", "null", "Null"}) {
    EXPECT_TRUE(means_missing(text)) << text;
  }
  for (const char* text : {"0", "none", "??", "N", "nano", "-", "N\\A"}) {
    EXPECT_FALSE(means_missing(text)) << text;
  }
}

TEST(Printable, CutsLongCellsAndEscapesControlCharacters) {
  EXPECT_EQ(printable("abc"), "abc");
  EXPECT_EQ(printable("a\nb\r\t\x1b\x7f"), "a\\nb\\r\\t\\x1b\\x7f");
  EXPECT_EQ(printable(std::string(40, 'x')), std::string(40, 'x'));
  EXPECT_EQ(printable(std::string(41, 'x')), std::string(40, 'x') + "...");
  EXPECT_EQ(printable(std::string(39, 'x') + "\u00e9\u00e9"), std::string(39, 'x') + "...");
}

}  // namespace
}  // namespace espalier
