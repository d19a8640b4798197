// SPDX-License-Identifier: Apache-2.0
// Flags from lists of fields: the C++ type of a field determines how its flag is parsed and
// described.
#pragma once

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "espalier/auto.h"
#include "espalier/csv.h"
#include "espalier/error.h"
#include "espalier/fields.h"
#include "espalier/text.h"
#include "espalier/words.h"

namespace espalier {

/// A flag for a comma-separated list. It may be repeated. It replaces the default.
CLI::Option* add_list(CLI::App& app, const std::string& flag, std::vector<std::string>& list,
                      const std::string& help);

/// The flags for reading data that all commands have.
void add_table_flags(CLI::App& app, CsvOptions& csv);

/// The flags for reading data that only training has; later the model knows the columns.
void add_column_flags(CLI::App& app, CsvOptions& csv);

/// Throws Error (argument) for contradictory flags.
void check_table_flags(const CsvOptions& csv);

inline Error bad_value(const std::string& flag, std::string_view text, std::string_view wanted) {
  return Error(ErrorKind::argument, fmt::format("{}: '{}' is not {}", flag, text, wanted));
}

/// "from 0 to 1024"; empty without bounds
template <class T>
std::string range_text(const Field& field) {
  const double least = std::is_unsigned_v<T> ? std::max(field.min, 0.0) : field.min;
  std::string text;
  if (std::isfinite(least)) text += fmt::format("from {} ", least);
  if (std::isfinite(field.max)) text += fmt::format("to {} ", field.max);
  if (!text.empty()) text.pop_back();
  return text;
}

template <class Enum>
std::string wanted_word() {
  return fmt::format("one of {}", fmt::join(Words<Enum>::list, ", "));
}

/// Parses a value. Throws Error (argument) that names the expected form.
template <class T>
T read_value(const Field& field, const std::string& text, const char* or_open = "") {
  if constexpr (is_auto<T>) {
    if (text == kAuto) return {};
    return read_value<typename T::Value>(field, text, ", or auto");
  } else if constexpr (std::is_enum_v<T>) {
    if (const auto value = from_word<T>(text)) return *value;
    throw bad_value(flag_name(field), text, wanted_word<T>());
  } else if constexpr (std::is_arithmetic_v<T>) {
    T value{};
    const char* const end = text.data() + text.size();
    const auto is_read = [&](auto& number) {
      const auto [stop, error] = std::from_chars(text.data(), end, number);
      return error == std::errc() && stop == end;
    };
    double power = 0;
    bool is_number = is_read(value);
    if (!is_number && std::is_integral_v<T> && is_read(power) && power >= 0 && power <= 1e15) {
      const auto whole = static_cast<std::uint64_t>(power);  // 1e9 is a whole number too
      is_number = static_cast<double>(whole) == power && text.find('.') == text.npos &&
                  power <= static_cast<double>(std::numeric_limits<T>::max());
      value = static_cast<T>(whole);
    }
    const auto number = static_cast<double>(value);
    const bool fits = std::isfinite(number) && field.takes(number);
    if (is_number && fits) return value;
    const char* const wanted = std::is_integral_v<T> ? "a whole number" : "a number";
    throw bad_value(flag_name(field), text,
                    fmt::format("{} {}{}", wanted, range_text<T>(field), or_open));
  } else {
    return text;
  }
}

/// The help text of a field, with its range and default.
template <class T>
std::string describe(const Field& field, const T& value) {
  if constexpr (is_auto<T>) {
    const std::string open(kAuto);
    return fmt::format("{} ({}, or {}; default {})", field.help,
                       range_text<typename T::Value>(field), open,
                       value.is_open() ? open : fmt::format("{}", value.value()));
  } else if constexpr (std::is_enum_v<T>) {
    return fmt::format("{} ({}; default {})", field.help, wanted_word<T>(), to_word(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return fmt::format("{} ({}; default {})", field.help, range_text<T>(field), value);
  } else {
    return value.empty() ? field.help : fmt::format("{} (default {})", field.help, value);
  }
}

/// Adds a flag for a field.
template <class T>
CLI::Option* add_field(CLI::App& app, const Field& field, T& value) {
  const std::string flag = flag_name(field);
  if constexpr (std::is_same_v<T, bool>) {
    return app.add_flag(flag, value, field.help);
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return add_list(app, flag, value, field.help);
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    const CLI::callback_t read = [field, &value](const CLI::results_t& texts) {
      value.clear();
      for (const std::string& text : texts) {
        for (const std::string& part : split_at_commas(text))
          value.push_back(read_value<double>(field, part));
      }
      return true;
    };
    return app.add_option(flag, read, field.help)->type_name("LIST")->take_all();
  } else {
    const CLI::callback_t read = [field, &value](const CLI::results_t& texts) {
      value = read_value<T>(field, texts.back());
      return true;
    };
    const char* const type = is_auto<T>                    ? "NUMBER"
                             : std::is_enum_v<T>           ? "WORD"
                             : std::is_integral_v<T>       ? "INTEGER"
                             : std::is_floating_point_v<T> ? "NUMBER"
                                                           : "TEXT";
    return app.add_option(flag, read, describe(field, value))->type_name(type);
  }
}

/// Adds a required flag for an enum field, without a default.
template <class Enum>
CLI::Option* add_required_field(CLI::App& app, const Field& field, Enum& value) {
  return add_field(app, field, value)
      ->required()
      ->description(fmt::format("{} ({})", field.help, wanted_word<Enum>()));
}

/// Adds a flag for every field of an options struct, under a heading of the help.
template <class Options>
void add_fields(CLI::App& app, Options& options, const std::string& heading) {
  visit_fields(options, [&](const Field& field, auto& value) {
    add_field(app, field, value)->group(heading);
  });
}

}  // namespace espalier
