// SPDX-License-Identifier: Apache-2.0
// JSON values and their text. Numbers are written as by nlohmann-json, which wrote the first model
// files.
#include "espalier/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ostream>
#include <utility>

#include "core/text.h"

namespace espalier {

namespace {

// The digits of a finite number above 0, d1 d2 ... dk, and n: it is 0.d1d2...dk * 10^n.
struct Decimal {
  std::string digits;
  int exponent;
};

template <class Float>
Decimal shortest(Float value) {
  std::array<char, 32> text{};
  const char* const end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific)
          .ptr;
  const char* const e = std::find<const char*>(text.data(), end, 'e');
  Decimal decimal{.digits = {}, .exponent = 0};
  std::copy_if(static_cast<const char*>(text.data()), e, std::back_inserter(decimal.digits),
               [](char c) { return c != '.'; });
  const char* const sign = e + 1;
  std::from_chars(*sign == '+' ? sign + 1 : sign, end, decimal.exponent);
  ++decimal.exponent;
  return decimal;
}

// 12.0, 0.00012 and 1.2e-05: an exponent is written below 10^-4 and from 10^15 on.
template <class Float>
void append_number(Float value, std::string& out) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  if (std::signbit(value)) out += '-';
  if (value == 0) {
    out += "0.0";
    return;
  }
  const auto [digits, n] = shortest(std::abs(value));
  const int k = static_cast<int>(digits.size());
  if (n > 15 || n <= -4) {
    out += digits[0];
    if (k > 1) out.append(1, '.').append(digits, 1);
    out += fmt::format("e{}{:02}", n > 0 ? '+' : '-', std::abs(n - 1));
  } else if (n <= 0) {
    out.append("0.").append(static_cast<std::size_t>(-n), '0').append(digits);
  } else if (k <= n) {
    out.append(digits).append(static_cast<std::size_t>(n - k), '0').append(".0");
  } else {
    const auto point = static_cast<std::size_t>(n);
    out.append(digits, 0, point).append(1, '.').append(digits, point);
  }
}

void append_ascii(char c, std::string& out) {
  constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  const std::size_t known = kEscaped.find(c);
  if (known != kEscaped.npos) {
    out.append(1, '\\').append(1, kLetters[known]);
  } else if (static_cast<unsigned char>(c) < 0x20) {
    out += fmt::format("\\u{:04x}", static_cast<int>(c));
  } else {
    out += c;
  }
}

void append_string(std::string_view text, std::string& out) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  out += '"';
  while (!text.empty()) {
    const auto [length, is_good] = leading_utf8(text);
    if (!is_good) {
      out += kReplacement;
    } else if (length == 1) {
      append_ascii(text[0], out);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  out += '"';
}

}  // namespace

class Json::Writer {
 public:
  explicit Writer(int indent) : indent_(indent) {}

  void write(const Json& json) {
    std::visit([this](const auto& value) { put(value); }, json.value_);
  }
  std::string take() { return std::move(out_); }

 private:
  void put(std::monostate) { out_ += "null"; }
  void put(bool value) { out_ += value ? "true" : "false"; }
  void put(const Whole& value) {
    out_ += value.negative ? std::to_string(static_cast<std::int64_t>(value.bits))
                           : std::to_string(value.bits);
  }
  void put(double value) { append_number(value, out_); }
  void put(float value) { append_number(value, out_); }
  void put(const std::string& value) { append_string(value, out_); }
  void put(const Array& items) {
    put_list('[', items, ']', [this](const Json& item) { write(item); });
  }
  void put(const Object& members) {
    put_list('{', members, '}', [this](const Member& member) {
      append_string(member.name, out_);
      out_ += indent_ < 0 ? ":" : ": ";
      write(member.value);
    });
  }

  template <class Items, class PutItem>
  void put_list(char open, const Items& items, char close, PutItem put_item) {
    out_ += open;
    ++depth_;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += ',';
      break_line();
      put_item(items[i]);
    }
    --depth_;
    if (!items.empty()) break_line();
    out_ += close;
  }

  void break_line() {
    if (indent_ >= 0) out_.append(1, '\n').append(static_cast<std::size_t>(indent_ * depth_), ' ');
  }

  int indent_;
  int depth_ = 0;
  std::string out_;
};

Json::Json() noexcept = default;
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json::Json(bool value) : value_(value) {}
Json::Json(double value) : value_(value) {}
Json::Json(std::string value) : value_(std::move(value)) {}
Json::Json(Whole value) : value_(value) {}

Json::Json(std::initializer_list<Json> list) {
  const auto is_member = [](const Json& item) {
    return item.is_array() && item.size() == 2 && item[0].is_string();
  };
  if (!std::all_of(list.begin(), list.end(), is_member)) {
    value_ = Array(list);
    return;
  }
  Object& members = value_.emplace<Object>();
  for (const Json& item : list) members.push_back({item[0].string(), item[1]});
}

Json Json::array(std::initializer_list<Json> list) {
  Json json;
  json.value_ = Array(list);
  return json;
}

Json Json::object() {
  Json json;
  json.value_ = Object();
  return json;
}

Json Json::single(float value) {
  Json json;
  json.value_ = value;
  return json;
}

std::string Json::dump(int indent) const {
  Writer writer(indent);
  writer.write(*this);
  return writer.take();
}

bool Json::is_null() const noexcept { return std::holds_alternative<std::monostate>(value_); }
bool Json::is_boolean() const noexcept { return std::holds_alternative<bool>(value_); }
bool Json::is_string() const noexcept { return std::holds_alternative<std::string>(value_); }
bool Json::is_array() const noexcept { return std::holds_alternative<Array>(value_); }
bool Json::is_object() const noexcept { return std::holds_alternative<Object>(value_); }

bool Json::is_number() const noexcept {
  return std::holds_alternative<Whole>(value_) || std::holds_alternative<double>(value_) ||
         std::holds_alternative<float>(value_);
}

bool Json::is_whole() const noexcept {
  return std::holds_alternative<Whole>(value_) || (is_number() && std::trunc(number()) == number());
}

void Json::refuse(const char* wanted) const {
  constexpr std::array kKinds = {"null",     "true or false", "a number", "a number",
                                 "a number", "a string",      "an array", "an object"};
  throw JsonError(fmt::format("wanted {}, found {}", wanted, kKinds.at(value_.index())));
}

template <class Kind>
const Kind& Json::as(const char* wanted) const {
  const Kind* const value = std::get_if<Kind>(&value_);
  if (!value) refuse(wanted);
  return *value;
}

double Json::number() const {
  if (const auto* single = std::get_if<float>(&value_)) return *single;
  if (const auto* whole = std::get_if<Whole>(&value_)) {
    return whole->negative ? static_cast<double>(static_cast<std::int64_t>(whole->bits))
                           : static_cast<double>(whole->bits);
  }
  return as<double>("a number");
}

template <std::integral T>
T Json::whole() const {
  const auto fitting = [this](auto value) {
    if (!std::in_range<T>(value)) {
      throw JsonError(fmt::format("wanted a whole number from {} to {}, found {}",
                                  std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                                  dump()));
    }
    return static_cast<T>(value);
  };
  if (const auto* whole = std::get_if<Whole>(&value_)) {
    return whole->negative ? fitting(static_cast<std::int64_t>(whole->bits)) : fitting(whole->bits);
  }
  const double value = number();
  if (value >= 0 && value < 0x1p64 && is_whole()) return fitting(static_cast<std::uint64_t>(value));
  if (value < 0 && value >= -0x1p63 && is_whole()) return fitting(static_cast<std::int64_t>(value));
  throw JsonError(fmt::format("wanted a whole number, found {}", dump()));
}

template <>
bool Json::get<bool>() const {
  return as<bool>("true or false");
}
template <>
double Json::get<double>() const {
  return number();
}
template <>
float Json::get<float>() const {
  return static_cast<float>(number());
}
template <>
std::int32_t Json::get<std::int32_t>() const {
  return whole<std::int32_t>();
}
template <>
std::uint32_t Json::get<std::uint32_t>() const {
  return whole<std::uint32_t>();
}
template <>
std::int64_t Json::get<std::int64_t>() const {
  return whole<std::int64_t>();
}
template <>
std::uint64_t Json::get<std::uint64_t>() const {
  return whole<std::uint64_t>();
}
template <>
std::string Json::get<std::string>() const {
  return string();
}
template <>
std::vector<std::string> Json::get<std::vector<std::string>>() const {
  std::vector<std::string> values;
  for (const Json& item : *this) values.push_back(item.string());
  return values;
}
template <>
std::vector<double> Json::get<std::vector<double>>() const {
  std::vector<double> values;
  for (const Json& item : *this) values.push_back(item.number());
  return values;
}

const std::string& Json::string() const { return as<std::string>("a string"); }

std::size_t Json::size() const noexcept {
  if (const auto* items = std::get_if<Array>(&value_)) return items->size();
  if (const auto* members = std::get_if<Object>(&value_)) return members->size();
  return 0;
}

const Json* Json::begin() const { return as<Array>("an array").data(); }
const Json* Json::end() const { return begin() + size(); }
Json* Json::begin() { return const_cast<Json*>(std::as_const(*this).begin()); }
Json* Json::end() { return begin() + size(); }

const Json& Json::operator[](std::size_t i) const {
  const Array& items = as<Array>("an array");
  if (i < items.size()) return items[i];
  throw JsonError(fmt::format("wanted element {} of an array of {}", i, items.size()));
}

Json& Json::operator[](std::size_t i) { return const_cast<Json&>(std::as_const(*this)[i]); }

void Json::push_back(Json value) {
  if (is_null()) value_ = Array();
  const_cast<Array&>(as<Array>("an array")).push_back(std::move(value));
}

const Json::Object& Json::members() const { return as<Object>("an object"); }

const Json* Json::find(std::string_view name) const {
  const auto found = std::ranges::find(members(), name, &Member::name);
  return found == members().end() ? nullptr : &found->value;
}

const Json& Json::at(std::string_view name) const {
  const Json* const found = find(name);
  if (!found) throw JsonError(fmt::format("there is no '{}'", name));
  return *found;
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) value_ = Object();
  if (const Json* const found = find(name)) return const_cast<Json&>(*found);
  auto& members = std::get<Object>(value_);
  members.push_back({std::string(name), Json()});
  return members.back().value;
}

void Json::erase(std::string_view name) {
  std::erase_if(const_cast<Object&>(as<Object>("an object")),
                [&](const Member& member) { return member.name == name; });
}

bool operator==(const Json& a, const Json& b) {
  using Whole = Json::Whole;
  const bool both_whole =
      std::holds_alternative<Whole>(a.value_) && std::holds_alternative<Whole>(b.value_);
  if (a.is_number() && b.is_number() && !both_whole) return a.number() == b.number();
  return a.value_ == b.value_;
}

std::ostream& operator<<(std::ostream& out, const Json& json) { return out << json.dump(); }

}  // namespace espalier
