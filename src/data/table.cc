// SPDX-License-Identifier: Apache-2.0
#include "espalier/table.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier {

bool floats_blur(std::span<const float> rounded) noexcept {
  // Beyond this the spread of the values has 16 bits or more of a float's 24.
  constexpr float kCloseTogether = 1.0f / 256;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  float lo = kNan, hi = kNan;
  bool more_than_two = false;
  for (const float value : rounded) {
    if (std::isinf(value)) return true;
    if (value < lo || value > hi) {
      // Of two values one is the least and one the largest.
      more_than_two = more_than_two || lo < hi;
    } else {
      more_than_two = more_than_two || (value > lo && value < hi);
    }
    lo = std::fmin(lo, value);
    hi = std::fmax(hi, value);
  }
  return !more_than_two || hi - lo < kCloseTogether * std::max(std::abs(lo), std::abs(hi));
}

Table take_rows(const Table& table, std::span<const std::uint32_t> rows) {
  Table taken{.name = table.name, .num_rows = rows.size()};
  for (const Column& column : table.columns) {
    Column& copy = taken.columns.emplace_back(Column{.name = column.name, .type = column.type});
    copy.words = column.words;
    copy.missing = column.missing;
    copy.not_missing = column.not_missing;
    const std::span<const float> numbers = column.values();
    if (!column.exact.empty()) {
      for (const std::uint32_t row : rows) copy.exact.push_back(column.exact[row]);
    }
    for (const std::uint32_t row : rows) {
      if (column.type == ColumnType::number)
        copy.numbers.push_back(numbers[row]);
      else
        copy.codes.push_back(column.codes[row]);
    }
  }
  return taken;
}

}  // namespace espalier
