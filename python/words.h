// SPDX-License-Identifier: Apache-2.0
// The word of a number that counts as a category, for every kind of table: what a CSV file has for
// it, so that a model means the same to Python and to the command line.
//
//   whole numbers   all their digits, 1.0 and 1 alike
//   fractions       the fewest digits that read back as the same float32
//   booleans        True and False, as Python writes them
#pragma once

#include <concepts>
#include <string>

namespace espalier {

std::string number_text(bool value);
std::string number_text(double value);

template <std::integral T>
std::string number_text(T value) {
  return std::to_string(value);
}

}  // namespace espalier
