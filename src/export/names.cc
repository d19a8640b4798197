// SPDX-License-Identifier: Apache-2.0
#include "export/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace espalier {

namespace {

constexpr std::size_t kLongest = 80;  // letters of an identifier

// Keywords up to C++23, names that stand for one, and macros in small letters that some system's
// headers have.
constexpr std::string_view kReserved =
    " alignas alignof alloca and and_eq asm assert atomic_cancel atomic_commit atomic_noexcept"
    " auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await"
    " co_return co_yield compl concept const const_cast consteval constexpr constinit continue"
    " decltype default delete do double dynamic_cast else enum errno explicit export extern"
    " false far final float for friend goto i386 if import inline int interface issubnormal"
    " linux long major makedev math_errhandling max min minor module mutable namespace near"
    " new noexcept not not_eq nullptr offsetof operator or or_eq override private protected"
    " public reflexpr register reinterpret_cast requires return sched_priority short signed"
    " sizeof small static static_assert static_cast std stderr stdin stdout strdupa strndupa"
    " struct switch synchronized template this thread_local throw true try typedef typeid"
    " typename union unix unsigned using va_arg va_copy va_end va_start virtual void volatile"
    " wchar_t while xor xor_eq ";

bool is_small(char c) { return c >= 'a' && c <= 'z'; }
bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter_or_digit(char c) { return is_small(c) || is_capital(c) || is_digit(c); }

bool is_reserved(std::string_view word) {
  return kReserved.find(fmt::format(" {} ", word)) != kReserved.npos ||
         word.starts_with("pthread_");
}

// The first character of a text that is not empty.
struct CodePoint {
  std::uint32_t value;
  std::size_t size;     // in bytes
  bool is_utf8 = true;  // if not, the value is one byte
};

CodePoint first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead < 0xc2   ? 0
                           : lead < 0xe0 ? 2
                           : lead < 0xf0 ? 3
                           : lead < 0xf5 ? 4
                                         : 0;
  if (size == 0 || size > text.size()) return {lead, 1, false};
  std::uint32_t value = lead & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {lead, 1, false};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  return {value, size};
}

// Marks that are not seen, turn the direction of writing or end a line.
bool is_invisible(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0xad || c == 0x61c ||
         (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2060 && c <= 0x206f) || (c >= 0xd800 && c <= 0xf8ff) || c == 0xfeff ||
         (c >= 0xfff9 && c <= 0xffff) || c >= 0xe0000;
}

}  // namespace

std::string identifier_of(std::string_view name) {
  std::string text;
  const auto part = [&] {
    if (!text.empty() && text.back() != '_') text += '_';
  };
  while (!name.empty() && text.size() < kLongest) {
    const CodePoint first = first_of(name);
    const char c = name.front();
    name.remove_prefix(first.size);
    if (is_letter_or_digit(c)) {
      text += c;
    } else if (first.value < 0x80) {
      part();
    } else {
      part();
      text += fmt::format("u{:04x}_", first.value);
    }
  }
  while (!text.empty() && text.back() == '_') text.pop_back();
  if (std::none_of(text.begin(), text.end(), is_small)) {
    for (char& c : text) c = is_capital(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (text.empty() || is_digit(text.front())) text.insert(0, 1, 'x');
  if (is_reserved(text)) text += '_';
  return text;
}

bool is_plain_identifier(std::string_view text) {
  const auto fits = [](char c) { return is_letter_or_digit(c) || c == '_'; };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits) && !is_digit(text.front()) &&
         text.front() != '_' && text.find("__") == text.npos && !is_reserved(text);
}

std::string literal_of(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '?';
    literal += plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return literal + '"';
}

std::string comment_of(std::string_view text) {
  std::string comment = "\"";
  while (!text.empty()) {
    const CodePoint first = first_of(text);
    const std::string_view bytes = text.substr(0, first.size);
    text.remove_prefix(first.size);
    if (!first.is_utf8) {
      comment += fmt::format("<{:02X}>", first.value);
    } else if (is_invisible(first.value) || bytes == "\\" || bytes == "*" || bytes == "?") {
      comment += fmt::format("<U+{:04X}>", first.value);
    } else {
      comment += bytes;
    }
  }
  return comment + '"';
}

std::string Scope::take(std::string_view name, const std::vector<std::string>& endings) {
  const std::string base = identifier_of(name);
  const auto is_free = [&](const std::string& text) {
    return !taken_.contains(text) &&
           std::none_of(endings.begin(), endings.end(),
                        [&](const std::string& ending) { return taken_.contains(text + ending); });
  };
  std::string text = base;
  for (int n = 2; !is_free(text); ++n)
    text = fmt::format("{}{}{}", base, base.back() == '_' ? "" : "_", n);
  taken_.insert(text);
  for (const std::string& ending : endings) taken_.insert(text + ending);
  return text;
}

}  // namespace espalier
