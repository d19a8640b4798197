// SPDX-License-Identifier: Apache-2.0
// How fast tables are read: MB of text a second, from memory, as medians.
//
//   bench_csv_kinds [MEGABYTES]
//
// Three tables: short numbers (counts and decimals), numbers with all digits of a float, and the
// synthetic loans, a third of whose columns are words. Before one is timed, what one thread and all
// of them read is compared with what was written.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "core/random.h"
#include "espalier/espalier.h"
#include "timing.h"

namespace espalier {
namespace {

constexpr int kNumberColumns = 10;
constexpr int kTimes = 9;

std::string written(const Table& table) {
  std::ostringstream out;
  write_csv(table, out);
  return out.str();
}

template <class Draw>
Table make_numbers(std::size_t num_rows, Draw&& draw) {
  Table table{.num_rows = num_rows};
  Random random(1);
  for (int c = 0; c < kNumberColumns; ++c) {
    Column& column = table.columns.emplace_back(Column{.name = fmt::format("x{}", c)});
    for (std::size_t i = 0; i < num_rows; ++i) column.numbers.push_back(draw(random, c));
  }
  return table;
}

// Whole numbers up to 10^5 in every second column, else two to four decimals, some negative.
float draw_short(Random& random, int column) {
  const float whole = static_cast<float>(random.below(100'000));
  if (column % 2 == 0) return whole;
  constexpr float kParts[] = {100, 1000, 10000};
  return (whole - 20'000) / kParts[column % 3];
}

float draw_long(Random& random, int) { return static_cast<float>(random.uniform()); }

std::string_view word(const Column& column, std::size_t row) {
  const std::int32_t code = column.codes[row];
  return code == kMissingCode ? ""
                              : std::string_view(column.categories[static_cast<std::size_t>(code)]);
}

bool same_cell(const Column& a, const Column& b, std::size_t row) {
  if (a.type == ColumnType::category) return word(a, row) == word(b, row);
  const float x = a.numbers[row], y = b.numbers[row];
  return x == y || (std::isnan(x) && std::isnan(y));
}

bool same(const Table& a, const Table& b) {
  bool equal = a.num_rows == b.num_rows && a.columns.size() == b.columns.size();
  for (std::size_t c = 0; equal && c < a.columns.size(); ++c) {
    equal = a.columns[c].name == b.columns[c].name && a.columns[c].type == b.columns[c].type;
    for (std::size_t i = 0; equal && i < a.num_rows; ++i) {
      equal = same_cell(a.columns[c], b.columns[c], i);
    }
  }
  return equal;
}

double megabytes_a_second(const std::string& text, int threads) {
  std::vector<double> times;
  for (int t = 0; t < kTimes; ++t) {
    times.push_back(seconds(1, [&] { parse_csv(text, {.threads = threads}); }));
  }
  return static_cast<double>(text.size()) / 1e6 / median(times);
}

bool measure(const char* name, const Table& table) {
  const std::string text = written(table);
  for (const int threads : {1, 0}) {
    if (same(table, parse_csv(text, {.threads = threads}))) continue;
    std::printf("%s: what was read is not what was written\n", name);
    return false;
  }
  const double one = megabytes_a_second(text, 1), all = megabytes_a_second(text, 0);
  std::printf("%-16s %6.1f MB  one thread %7.1f MB/s  all cores %7.1f MB/s  %.2f x\n", name,
              static_cast<double>(text.size()) / 1e6, one, all, all / one);
  return true;
}

}  // namespace
}  // namespace espalier

int main(int argc, char** argv) {
  using namespace espalier;
  const double megabytes = argc > 1 ? std::atof(argv[1]) : 50;
  const auto rows = [&](double bytes_a_row) {
    return static_cast<std::size_t>(megabytes * 1e6 / bytes_a_row);
  };
  const bool right = measure("short numbers", make_numbers(rows(65), draw_short)) &&
                     measure("long numbers", make_numbers(rows(110), draw_long)) &&
                     measure("loans", simulate({.rows = static_cast<std::int64_t>(rows(45))}));
  return right ? 0 : 1;
}
