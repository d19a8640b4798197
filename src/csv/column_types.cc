// SPDX-License-Identifier: Apache-2.0
#include "espalier/column_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/default_floats.h"
#include "csv/cell.h"
#include "espalier/csv.h"
#include "espalier/error.h"

namespace espalier {

namespace {

// The number of each category; NaN if it means missing.
std::vector<Number> numbers_of_words(const Table& table, const Column& column) {
  const std::vector<double> missing = missing_numbers(column.missing);
  std::vector<Number> numbers;
  for (const std::string& category : column.categories) {
    Number number{NAN, NAN};
    const std::string_view text = trim(category);
    if (!means_missing(text, column.missing, column.not_missing)) {
      if (!parse_number(text, number) || std::isnan(number.rounded)) {
        throw Error(ErrorKind::data,
                    fmt::format("{}: column '{}': '{}' is not a number", table.name,
                                printable(column.name), printable(category)));
      }
      if (std::ranges::find(missing, number.exact) != missing.end()) number = {NAN, NAN};
    }
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::vector<double> missing_numbers(const std::vector<std::string>& missing) {
  std::vector<double> numbers;
  for (const std::string& category : missing) {
    Number number;
    if (parse_number(trim(category), number)) numbers.push_back(number.exact);
  }
  return numbers;
}

void read_as_numbers(Table& table, const std::string& name) {
  const DefaultFloats floats;
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  if (found == table.columns.end() || found->type == ColumnType::number) return;
  const std::vector<Number> numbers = numbers_of_words(table, *found);
  Column read{.name = name};
  read.missing = found->missing;
  read.not_missing = found->not_missing;
  bool was_rounded = false;
  for (const std::int32_t code : found->category_codes()) {
    const Number number =
        code == kMissingCode ? Number{NAN, NAN} : numbers[static_cast<std::size_t>(code)];
    read.numbers.push_back(number.rounded);
    read.exact.push_back(number.exact);
    was_rounded |= number.was_rounded();
  }
  if (!was_rounded || !floats_blur(read.numbers)) read.exact.clear();
  *found = std::move(read);
}

}  // namespace espalier
