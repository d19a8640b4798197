// SPDX-License-Identifier: Apache-2.0
// One list of fields per options struct. Flags, JSON, documentation and validation are all visitors
// of that list, so a name, a default, a range and a help text are written once.
//
//   visit_fields(options, [](const Field& field, auto& value) { ... });
//
// A value is a std::string, std::vector<std::string>, std::vector<double>, bool, int, std::int64_t,
// std::uint64_t, double or an enum with Words.
#pragma once

#include <limits>
#include <string>

namespace espalier {

struct Field {
  const char* name;  ///< learning_rate; the flag is --learning-rate
  const char* help;
  double min = -std::numeric_limits<double>::infinity();  ///< of numbers, inclusive
  double max = std::numeric_limits<double>::infinity();
  /// The number that leaves the choice to training, if there is one; it may lie outside of min and
  /// max. Of words it is `automatic`.
  double chooses = std::numeric_limits<double>::quiet_NaN();

  /// Whether a number is within the bounds, or the one that leaves the choice to training.
  bool takes(double number) const { return number == chooses || (number >= min && number <= max); }

  /// Whether that one lies outside of the bounds.
  bool chooses_outside() const { return chooses < min || chooses > max; }
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
