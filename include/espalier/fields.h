// SPDX-License-Identifier: Apache-2.0
// One list of fields per options struct. Flags, JSON, documentation and validation are all visitors
// of that list, so a name, a default, a range and a help text are written once.
//
//   visit_fields(options, [](const Field& field, auto& value) { ... });
//
// A value is a std::string, std::vector<std::string>, std::vector<double>, bool, int, std::int64_t,
// std::uint64_t, double, an enum with Words, or an Auto<int> or Auto<double> (espalier/auto.h).
#pragma once

#include <limits>
#include <string>

namespace espalier {

struct Field {
  const char* name;  ///< learning_rate; the flag is --learning-rate
  const char* help;
  double min = -std::numeric_limits<double>::infinity();  ///< of numbers, inclusive
  double max = std::numeric_limits<double>::infinity();

  bool takes(double number) const { return number >= min && number <= max; }
};

/// learning_rate -> --learning-rate
inline std::string flag_name(const Field& field) {
  std::string flag = std::string("--") + field.name;
  for (char& c : flag) {
    if (c == '_') c = '-';
  }
  return flag;
}

}  // namespace espalier
