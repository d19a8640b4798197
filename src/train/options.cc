// SPDX-License-Identifier: Apache-2.0
// Range checks and JSON of TrainOptions: visitors of its field list.
#include "espalier/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/check_fields.h"
#include "core/text.h"
#include "espalier/error.h"
#include "espalier/json.h"
#include "espalier/text.h"

namespace espalier {
namespace {

using Strings = std::vector<std::string>;

template <class T>
constexpr bool is_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

// The value as JSON text, short enough for a message.
std::string shown(const Json& json) {
  constexpr std::size_t kLongest = 40;
  std::string text = json.dump();
  if (text.size() > kLongest) text.replace(kLongest, std::string::npos, "...");
  return text;
}

// Where a value came from, for errors: "config.json: 'epochs'".
struct Place {
  const std::string& file;
  const char* field;

  [[noreturn]] void fail(const std::string& wanted, const std::string& found) const {
    throw Error(ErrorKind::argument,
                fmt::format("{}: '{}': wanted {}, found {}", file, field, wanted, found));
  }
};

template <class T>
void read_number(T& value, const Json& json, const Place& place) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!json.is_number()) place.fail("a number", shown(json));
    value = json.get<T>();
  } else {
    if (!json.is_whole()) place.fail("a whole number", shown(json));
    try {
      value = json.get<T>();
    } catch (const JsonError&) {
      using Limits = std::numeric_limits<T>;
      place.fail(fmt::format("a whole number from {} to {}", Limits::min(), Limits::max()),
                 shown(json));
    }
  }
}

template <class Enum>
void read_word(Enum& value, const Json& json, const Place& place) {
  const std::optional<Enum> found =
      json.is_string() ? from_word<Enum>(json.string()) : std::nullopt;
  if (!found) {
    place.fail(fmt::format("one of {}", fmt::join(Words<Enum>::list, ", ")),
               json.is_string() ? fmt::format("'{}'", json.string()) : shown(json));
  }
  value = *found;
}

void read_strings(Strings& value, const Json& json, const Place& place) {
  if (json.is_string()) {
    value = split_at_commas(json.string());
    std::erase(value, "");
    return;
  }
  const auto is_string = [](const Json& item) { return item.is_string(); };
  if (!json.is_array() || !std::all_of(json.begin(), json.end(), is_string)) {
    place.fail("a list of strings", shown(json));
  }
  value = json.get<Strings>();
}

// A number is a list of one.
void read_numbers(std::vector<double>& value, const Json& json, const Place& place) {
  const auto is_number = [](const Json& item) { return item.is_number(); };
  if (json.is_number()) {
    value = {json.get<double>()};
  } else if (json.is_array() && std::all_of(json.begin(), json.end(), is_number)) {
    value = json.get<std::vector<double>>();
  } else {
    place.fail("a number or a list of numbers", shown(json));
  }
}

template <class T>
void read_value(T& value, const Json& json, const Place& place) {
  if constexpr (is_auto<T>) {
    if (json.is_null() || (json.is_string() && json.string() == kAuto)) {
      value = {};
    } else {
      typename T::Value number{};
      read_number(number, json, place);
      value = number;
    }
  } else if constexpr (std::is_enum_v<T>) {
    read_word(value, json, place);
  } else if constexpr (is_number<T>) {
    read_number(value, json, place);
  } else if constexpr (std::is_same_v<T, Strings>) {
    read_strings(value, json, place);
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    read_numbers(value, json, place);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) place.fail("true or false", shown(json));
    value = json.get<bool>();
  } else {
    if (!json.is_string()) place.fail("a string", shown(json));
    value = json.get<std::string>();
  }
}

Json parse_object(std::string_view text, const std::string& place) {
  Json json = Json::parse(text, place, ErrorKind::argument);
  if (json.is_object()) return json;
  throw Error(ErrorKind::argument,
              fmt::format("{}: wanted a JSON object, found {}", place, shown(json)));
}

void require_known_fields(const Json& json, const std::string& place) {
  Strings names;
  const TrainOptions defaults;
  visit_fields(defaults, [&](const Field& field, const auto&) { names.push_back(field.name); });
  for (const auto& [name, value] : json.members()) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::optional<std::string> meant = nearest(name, names);
    throw Error(ErrorKind::argument,
                fmt::format("{}: '{}' is no field{}", place, name,
                            meant ? fmt::format("; did you mean '{}'?", *meant) : ""));
  }
}

}  // namespace

void validate(const TrainOptions& options) { check_fields(options); }

std::string to_json(const TrainOptions& options) {
  Json json = Json::object();
  visit_fields(options, [&](const Field& field, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_enum_v<Value>) {
      json[field.name] = std::string(to_word(value));
    } else if constexpr (is_auto<Value>) {
      json[field.name] = value.is_open() ? Json(std::string(kAuto)) : Json(value.value());
    } else {
      json[field.name] = value;
    }
  });
  // Column names need not be UTF-8, JSON must be.
  return json.dump(2);
}

void apply_json(TrainOptions& options, const std::string& json, const std::string& place) {
  const Json object = parse_object(without_byte_order_mark(json), place);
  require_known_fields(object, place);
  TrainOptions changed = options;
  visit_fields(changed, [&](const Field& field, auto& value) {
    const Json* const found = object.find(field.name);
    if (found) read_value(value, *found, Place{place, field.name});
  });
  options = std::move(changed);
}

}  // namespace espalier
