// SPDX-License-Identifier: Apache-2.0
// Checks the numbers of an options struct against the ranges of its fields.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "espalier/auto.h"
#include "espalier/error.h"
#include "espalier/fields.h"

namespace espalier {

// Throws Error (argument) that names the first field that is out of range or not finite.
template <class Options>
void check_fields(const Options& options) {
  const auto check = [](const Field& field, auto value, const char* or_open = "") {
    const auto number = static_cast<double>(value);
    if (!std::isfinite(number))
      throw Error(ErrorKind::argument, fmt::format("{}: {} is not finite", field.name, number));
    if (!field.takes(number)) {
      throw Error(ErrorKind::argument, fmt::format("{}: {} is not between {} and {}{}", field.name,
                                                   value, field.min, field.max, or_open));
    }
  };
  visit_fields(options, [&check](const Field& field, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
      check(field, value);
    } else if constexpr (is_auto<Value>) {
      if (!value.is_open()) check(field, value.value(), ", or auto");
    } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
      for (const double number : value) check(field, number);
    }
  });
}

}  // namespace espalier
