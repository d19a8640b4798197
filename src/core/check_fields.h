// SPDX-License-Identifier: Apache-2.0
// Checks the numbers of an options struct against the ranges of its list of fields.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <type_traits>
#include <vector>

#include "espalier/error.h"
#include "espalier/fields.h"

namespace espalier {

// Throws Error (argument) naming the first field that is out of its range or not finite.
template <class Options>
void check_fields(const Options& options) {
  const auto check = [](const Field& field, auto value) {
    const auto number = static_cast<double>(value);
    if (!std::isfinite(number))
      throw Error(ErrorKind::argument, fmt::format("{}: {} is not finite", field.name, number));
    if (number < field.min || number > field.max) {
      throw Error(ErrorKind::argument, fmt::format("{}: {} is not between {} and {}", field.name,
                                                   value, field.min, field.max));
    }
  };
  visit_fields(options, [&check](const Field& field, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
      check(field, value);
    } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
      for (const double number : value) check(field, number);
    }
  });
}

}  // namespace espalier
