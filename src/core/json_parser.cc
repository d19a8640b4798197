// SPDX-License-Identifier: Apache-2.0
// Parses JSON text by recursive descent.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/text.h"
#include "espalier/json.h"

namespace espalier {

namespace {

// The length of an excerpt in a message.
std::string short_text(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  return std::string(text.substr(0, kLongest)) + (text.size() > kLongest ? "..." : "");
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  const auto put_rest = [&](int shift) { put(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6));
    put_rest(0);
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12));
    put_rest(6);
    put_rest(0);
  } else {
    put(0xf0 | (code >> 18));
    put_rest(12);
    put_rest(6);
    put_rest(0);
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

class Json::Parser {
 public:
  Parser(std::string_view text, const std::string& place, ErrorKind kind)
      : text_(text), place_(place), kind_(kind) {}

  Json parse() {
    Json json = value();
    skip_blanks();
    if (at_ < text_.size()) fail("the end");
    return json;
  }

 private:
  // The next character, or 0 at the end; a zero byte is invalid JSON either way.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(kind_, fmt::format("{}: {}", place_, what));
  }

  [[noreturn]] void fail(std::string_view wanted) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t column = at_ - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
    const auto [length, is_good] = leading_utf8(text_.substr(at_));
    const auto c = static_cast<unsigned char>(peek());
    const std::string found = at_ == text_.size() ? "the end"
                              : !is_good || c < 0x20
                                  ? fmt::format("the byte {:#04x}", c)
                                  : fmt::format("'{}'", text_.substr(at_, length));
    refuse(fmt::format("not JSON: line {}, column {}: found {}, wanted {}", line, column, found,
                       wanted));
  }

  Json value() {
    skip_blanks();
    switch (peek()) {
      case '{':
        return nested(&Parser::object);
      case '[':
        return nested(&Parser::array);
      case '"':
        return string();
      case 't':
        return word("true", true);
      case 'f':
        return word("false", false);
      case 'n':
        return word("null", Json());
      default:
        return number();
    }
  }

  Json nested(Json (Parser::*read)()) {
    if (++depth_ > kMaxDepth) refuse(fmt::format("nested deeper than {}", kMaxDepth));
    ++at_;
    skip_blanks();
    Json json = (this->*read)();
    --depth_;
    return json;
  }

  Json word(std::string_view spelling, Json meaning) {
    if (!text_.substr(at_).starts_with(spelling)) fail("a value");
    at_ += spelling.size();
    return meaning;
  }

  Json array() {
    Json json = Json::array();
    if (take(']')) return json;
    do {
      json.push_back(value());
      skip_blanks();
    } while (take(','));
    if (!take(']')) fail("',' or ']'");
    return json;
  }

  Json object() {
    Json json = Json::object();
    auto& members = std::get<Object>(json.value_);
    if (take('}')) return json;
    do {
      skip_blanks();
      if (peek() != '"') fail("a key in quotes");
      if (members.size() == kMaxKeys)
        refuse(fmt::format("an object of more than {} keys", kMaxKeys));
      std::string name = string();
      skip_blanks();
      if (!take(':')) fail("':'");
      members.push_back({std::move(name), value()});
      skip_blanks();
    } while (take(','));
    if (!take('}')) fail("',' or '}'");
    require_unique(members);
    return json;
  }

  void require_unique(const Object& members) const {
    std::vector<std::string_view> names;
    for (const Member& member : members) names.push_back(member.name);
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice != names.end())
      refuse(fmt::format("the key {} is there twice", short_text(Json(*twice).dump())));
  }

  std::string string() {
    ++at_;
    std::string out;
    while (!take('"')) {
      const auto [length, is_good] = leading_utf8(text_.substr(at_));
      if (at_ == text_.size()) fail("'\"'");
      if (!is_good) fail("UTF-8");
      if (static_cast<unsigned char>(peek()) < 0x20) fail("an escape such as \\n");
      if (take('\\')) {
        escape(out);
      } else {
        out += text_.substr(at_, length);
        at_ += length;
      }
    }
    return out;
  }

  void escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    if (take('u')) {
      append_utf8(code_point(), out);
      return;
    }
    const std::size_t known = at_ < text_.size() ? kLetters.find(peek()) : kLetters.npos;
    if (known == kLetters.npos) fail("one of \"\\/bfnrtu");
    out += kMeanings[known];
    ++at_;
  }

  // Two surrogates, \ud83d\ude00, for code points beyond 16 bits.
  std::uint32_t code_point() {
    const std::uint32_t first = four_digits();
    if (first < 0xd800 || first > 0xdfff) return first;
    if (first > 0xdbff || !take('\\') || !take('u')) fail("both halves of a surrogate pair");
    const std::uint32_t second = four_digits();
    if (second < 0xdc00 || second > 0xdfff) fail("the second half of a surrogate pair");
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
  }

  std::uint32_t four_digits() {
    std::uint32_t code = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), code, 16);
    if (digits.size() < 4 || end != digits.end()) fail("four hexadecimal digits");
    at_ += 4;
    return code;
  }

  void skip_digits() {
    if (!is_digit(peek())) fail("a digit");
    while (is_digit(peek())) ++at_;
  }

  Json number() {
    const std::size_t begin = at_;
    const bool is_negative = take('-');
    if (!is_digit(peek())) fail(is_negative ? "a digit" : "a value");
    if (!take('0')) skip_digits();
    bool is_whole = true;
    if (take('.')) {
      is_whole = false;
      skip_digits();
    }
    if (take('e') || take('E')) {
      is_whole = false;
      if (!take('+')) take('-');
      skip_digits();
    }
    const std::string_view digits = text_.substr(begin, at_ - begin);
    std::int64_t below = 0;
    std::uint64_t natural = 0;
    if (is_whole && is_negative && reads_as(digits, below)) return below;
    if (is_whole && !is_negative && reads_as(digits, natural)) return natural;
    double real = 0;
    if (!reads_as(digits, real) || std::isinf(real))
      refuse(fmt::format("not JSON: no double holds {}", short_text(digits)));
    return real;
  }

  template <class Number>
  static bool reads_as(std::string_view digits, Number& value) {
    return std::from_chars(digits.begin(), digits.end(), value).ec == std::errc();
  }

  std::string_view text_;
  const std::string& place_;
  ErrorKind kind_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

Json Json::parse(std::string_view text, const std::string& place, ErrorKind kind) {
  return Parser(text, place, kind).parse();
}

}  // namespace espalier
