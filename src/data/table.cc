// SPDX-License-Identifier: Apache-2.0
#include "espalier/table.h"

namespace espalier {

Table take_rows(const Table& table, std::span<const std::uint32_t> rows) {
  Table taken{.name = table.name, .num_rows = rows.size()};
  for (const Column& column : table.columns) {
    Column& copy = taken.columns.emplace_back(Column{.name = column.name, .type = column.type});
    copy.words = column.words;
    copy.missing = column.missing;
    const std::span<const float> numbers = column.values();
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
