// SPDX-License-Identifier: Apache-2.0
// JSON values, for options, results and the headers of model files.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "espalier/error.h"

namespace espalier {

/// A value has the wrong kind or lacks a member.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A JSON value. Objects keep the order of their members, so that reading and writing keeps the
/// bytes. A braced list is an object if all its elements are pairs that begin with a string, else
/// an array: `Json{{"rows", 5}, {"names", {"a", "b", "c"}}}`.
class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json() noexcept;  ///< null
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  Json(std::nullptr_t) noexcept : Json() {}
  Json(bool value);
  Json(double value);  ///< infinities and NaN are written as null
  Json(float value) : Json(static_cast<double>(value)) {}
  template <std::signed_integral T>
  Json(T value) : Json(Whole{static_cast<std::uint64_t>(value), value < 0}) {}
  template <std::unsigned_integral T>
  Json(T value) : Json(Whole{value, false}) {}
  Json(std::string value);
  Json(std::string_view value) : Json(std::string(value)) {}
  Json(const char* value) : Json(std::string(value)) {}
  template <class T>
  Json(const std::vector<T>& values) : Json(array()) {
    for (const T& value : values) push_back(value);
  }
  Json(std::initializer_list<Json> list);

  static Json array(std::initializer_list<Json> list = {});
  static Json object();
  /// A float, written with the fewest digits that read back to the same float.
  static Json single(float value);

  static constexpr int kMaxDepth = 64;
  static constexpr int kMaxKeys = 4096;

  /// Parses JSON text. Throws Error (kind) that begins with `place` for invalid JSON, text that is
  /// not UTF-8, numbers outside the range of double, duplicate keys, more than kMaxDepth levels
  /// (copying and writing recurse) and more than kMaxKeys keys per object (lookups are linear).
  static Json parse(std::string_view text, const std::string& place = "JSON",
                    ErrorKind kind = ErrorKind::format);

  /// The text on one line, or with `indent` spaces per level. Bytes that are not UTF-8 become
  /// U+FFFD.
  std::string dump(int indent = -1) const;

  bool is_null() const noexcept;
  bool is_boolean() const noexcept;
  bool is_number() const noexcept;
  bool is_whole() const noexcept;  ///< a number without a fraction, such as 3 or 3.0
  bool is_string() const noexcept;
  bool is_array() const noexcept;
  bool is_object() const noexcept;

  /// The value as a bool, a number, a string, or a vector of strings or doubles. Throws JsonError
  /// if the value has another kind or is outside the range of the type.
  template <class T>
  T get() const;
  const std::string& string() const;  ///< throws JsonError for another kind

  /// The number of elements of an array or members of an object, else 0.
  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }

  /// The elements of an array. They throw JsonError for another kind and beyond the last element.
  const Json* begin() const;
  const Json* end() const;
  Json* begin();
  Json* end();
  const Json& operator[](std::size_t i) const;
  Json& operator[](std::size_t i);
  /// Appends to an array; null becomes an array.
  void push_back(Json value);

  /// The members of an object. They throw JsonError for another kind.
  const Object& members() const;
  const Json* find(std::string_view name) const;  ///< null if there is no such member
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  const Json& at(std::string_view name) const;  ///< throws JsonError if there is no such member
  const Json& operator[](std::string_view name) const { return at(name); }
  /// Adds the member if it is absent, which invalidates references to other members. Null becomes
  /// an object.
  Json& operator[](std::string_view name);
  void erase(std::string_view name);

  /// Compares numbers by value, and objects member by member in order.
  friend bool operator==(const Json& a, const Json& b);
  friend std::ostream& operator<<(std::ostream& out, const Json& json);

 private:
  // Two's complement, so that all signed and unsigned 64-bit numbers fit.
  struct Whole {
    std::uint64_t bits;
    bool negative;
    bool operator==(const Whole&) const = default;
  };

  explicit Json(Whole value);
  [[noreturn]] void refuse(const char* wanted) const;
  template <class Kind>
  const Kind& as(const char* wanted) const;
  double number() const;
  template <std::integral T>
  T whole() const;

  class Parser;
  class Writer;
  std::variant<std::monostate, bool, Whole, double, float, std::string, Array, Object> value_;
};

struct Json::Member {
  std::string name;
  Json value;
  bool operator==(const Member&) const = default;
};

template <>
bool Json::get<bool>() const;
template <>
double Json::get<double>() const;
template <>
float Json::get<float>() const;
template <>
std::int32_t Json::get<std::int32_t>() const;
template <>
std::uint32_t Json::get<std::uint32_t>() const;
template <>
std::int64_t Json::get<std::int64_t>() const;
template <>
std::uint64_t Json::get<std::uint64_t>() const;
template <>
std::string Json::get<std::string>() const;
template <>
std::vector<std::string> Json::get<std::vector<std::string>>() const;
template <>
std::vector<double> Json::get<std::vector<double>>() const;

}  // namespace espalier
