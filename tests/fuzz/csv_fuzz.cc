// SPDX-License-Identifier: Apache-2.0
// A table as text, read with options that the first two bytes choose; what was read is written and
// must read back to the same table.
#include <cmath>
#include <sstream>

#include "espalier/csv.h"
#include "fuzz/fuzz.h"

namespace espalier::fuzz {

// Bits of the first byte: delimiter (3), header, skip_lines (2), missing words. Of the second one:
// the type of columns a and b (2 each), drop c, only a and b.
CsvOptions options_of(std::uint8_t first, std::uint8_t second) {
  constexpr char kDelimiters[] = {0, ',', ';', '\t', '|', ' ', 'x', '"'};
  CsvOptions options{.delimiter = kDelimiters[first & 7], .skip_lines = first >> 4 & 3};
  options.header = (first & 8) == 0;
  if (!options.header) options.columns = {"a", "b", "c"};
  if ((first & 64) != 0) options.missing = {"-999", "none"};
  const auto add_type = [&](const char* name, int bits) {
    if (bits == 1) options.types[name] = ColumnType::number;
    if (bits == 2) options.types[name] = ColumnType::category;
    if (bits == 3) options.column_missing[name] = {"0", "x"};
  };
  add_type("a", second & 3);
  add_type("b", second >> 2 & 3);
  if ((second & 16) != 0) options.drop = {"c"};
  if ((second & 32) != 0) options.only = {"a", "b"};
  return options;
}

template <class Float>
bool same_numbers(const std::vector<Float>& a, const std::vector<Float>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  }
  return true;
}

void require_same(const Table& a, const Table& b) {
  require(a.num_rows == b.num_rows && a.columns.size() == b.columns.size());
  for (std::size_t i = 0; i < a.columns.size(); ++i) {
    const Column &x = a.columns[i], &y = b.columns[i];
    require(x.name == y.name && x.type == y.type && x.categories == y.categories &&
            x.codes == y.codes);
    require(same_numbers(x.numbers, y.numbers) && same_numbers(x.exact, y.exact));
  }
}

void try_csv(const CsvOptions& options, std::string_view text) {
  Table table;
  if (!accepts([&] { table = parse_csv(text, options); })) return;
  std::ostringstream written;
  write_csv(table, written);
  CsvOptions types;
  for (const Column& column : table.columns) types.types[column.name] = column.type;
  require_same(parse_csv(written.str(), types), table);
}

}  // namespace espalier::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  espalier::fuzz::try_csv(espalier::fuzz::options_of(data[0], data[1]),
                          espalier::fuzz::text_of(data + 2, size - 2));
  return 0;
}
