// SPDX-License-Identifier: Apache-2.0
// Megabytes a second of reading a CSV file into a table.
//   bench_csv FILE COLUMN    # reports the sum of that column, so that readers can be compared
#include <cmath>
#include <filesystem>
#include <numeric>

#include "contender.h"
#include "timing.h"

namespace espalier {
namespace {

constexpr int kRepeats = 5;

void run(char** argv) {
  const std::string path = argv[1];
  Table table;
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) times.push_back(seconds(1, [&] { table = read_csv(path); }));
  const Column* const column = table.find(argv[2]);
  if (column == nullptr) throw Error(ErrorKind::argument, fmt::format("no column {}", argv[2]));
  double sum = 0;
  for (const float cell : column->numbers) sum += std::isnan(cell) ? 0 : cell;
  const auto bytes = static_cast<double>(std::filesystem::file_size(path));
  report({{"contender", "espalier"},
          {"value", bytes / 1e6 / median(times)},
          {"unit", "MB/s"},
          {"rows", table.num_rows},
          {"sum", sum}});
}

}  // namespace
}  // namespace espalier

int main(int, char** argv) {
  return espalier::contend([=] { espalier::run(argv); });
}
