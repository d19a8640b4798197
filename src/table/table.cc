// SPDX-License-Identifier: Apache-2.0
#include "espalier/table.h"

#include "core/default_floats.h"
#include "table/float_blur.h"

namespace espalier {

bool floats_blur(std::span<const float> rounded) noexcept {
  const DefaultFloats floats;
  FloatBlur blur;
  blur.add(rounded);
  return blur.blurs();
}

Table take_rows(const Table& table, std::span<const std::uint64_t> rows) {
  Table taken{.name = table.name, .num_rows = rows.size()};
  for (const Column& column : table.columns) {
    Column& copy = taken.columns.emplace_back(Column{.name = column.name, .type = column.type});
    copy.categories = column.categories;
    copy.missing = column.missing;
    copy.not_missing = column.not_missing;
    const std::span<const float> numbers = column.values();
    const std::span<const double> doubles = column.doubles();
    const std::span<const std::int32_t> codes = column.category_codes();
    if (!doubles.empty()) {
      for (const std::uint64_t row : rows) copy.exact.push_back(doubles[row]);
    }
    for (const std::uint64_t row : rows) {
      if (column.type == ColumnType::number)
        copy.numbers.push_back(numbers[row]);
      else
        copy.codes.push_back(codes[row]);
    }
  }
  return taken;
}

}  // namespace espalier
