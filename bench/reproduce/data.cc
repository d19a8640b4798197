// SPDX-License-Identifier: Apache-2.0
#include "reproduce/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <string_view>

#include "espalier/csv.h"
#include "espalier/error.h"
#include "reproduce/rater_teacher.h"

namespace espalier {
namespace {

using Rows = std::vector<std::uint64_t>;

constexpr std::uint64_t kCutSeed = 1;  // of cuts and simulated rows, which do not vary

// How many rows the paper had.
struct Sizes {
  std::size_t train;
  std::size_t valid;
  std::size_t test;

  std::size_t total() const { return train + valid + test; }
  double valid_fraction() const {
    return static_cast<double>(valid) / static_cast<double>(train + valid);
  }
};
constexpr Sizes kUsefulness = {62220, 7764, 7919};
constexpr Sizes kRaterScoreFull = {1565468, 195530, 195748};
constexpr Sizes kRaterScoreQuick = {78273, 9777, 9787};

Rows shuffled_rows(std::size_t count, std::uint64_t seed) {
  Rows rows(count);
  std::iota(rows.begin(), rows.end(), std::uint64_t{0});
  std::mt19937_64 random(seed);  // not std::shuffle, whose order differs between libraries
  for (std::size_t i = count; i > 1; --i) std::swap(rows[i - 1], rows[random() % i]);
  return rows;
}

// The rows of one of the two files: the note on top of adult.test goes, and so do the full stops
// that end its labels.
std::string adult_rows(const std::string& path) {
  std::istringstream text(read_text(path));
  std::string rows;
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line.front() == '|') continue;
    if (line.back() == '.') line.pop_back();
    rows += line + '\n';
  }
  return rows;
}

Table parse_adult(const std::string& rows, const std::string& name) {
  return parse_csv(
      rows,
      {.header = false,
       .columns = {"age", "workclass", "fnlwgt", "education", "education-num", "marital-status",
                   "occupation", "relationship", "race", "sex", "capital-gain", "capital-loss",
                   "hours-per-week", "native-country", "income"},
       .delimiter = ',',
       .drop = {"fnlwgt", "education"}},
      name);
}

// The rows of `extra` behind those of `table`.
Table joined(Table table, const Table& extra) {
  for (Column& column : table.columns) {
    const Column* const more = extra.find(column.name);
    if (more == nullptr || column.type != ColumnType::number || more->type != ColumnType::number) {
      throw Error(ErrorKind::data, fmt::format("{}: column '{}': wanted a number column, as in {}",
                                               extra.name, column.name, table.name));
    }
    column.numbers.insert(column.numbers.end(), more->numbers.begin(), more->numbers.end());
    column.exact.clear();  // floats do for the numbers of the one table that is joined
  }
  table.num_rows += extra.num_rows;
  return table;
}

void drop_column(Table& table, std::string_view name) {
  std::erase_if(table.columns, [name](const Column& column) { return column.name == name; });
}

}  // namespace

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    throw Error(ErrorKind::file, fmt::format("{}: cannot be read, or is empty", path));
  return text.str();
}

Data read_pair(const std::vector<std::string>& paths, Scale) {
  return {.train = read_csv(paths.at(0)), .test = read_csv(paths.at(1))};
}

Data read_adult(const std::vector<std::string>& paths, Scale) {
  return {.train = parse_adult(adult_rows(paths.at(0)), paths.at(0)),
          .test = parse_adult(adult_rows(paths.at(1)), paths.at(1))};
}

Data read_adult_abroad(const std::vector<std::string>& paths, Scale) {
  Table all = parse_adult(adult_rows(paths.at(0)) + adult_rows(paths.at(1)), paths.at(0));
  const Column& country = *all.find("native-country");
  Rows home, abroad;
  for (std::uint64_t row = 0; row < all.num_rows; ++row) {
    const std::int32_t code = country.codes.at(row);
    if (code == kMissingCode) continue;
    const bool is_home = country.categories[static_cast<std::size_t>(code)] == "United-States";
    (is_home ? home : abroad).push_back(row);
  }
  drop_column(all, "native-country");  // constant where we train
  return {.train = take_rows(all, home), .test = take_rows(all, abroad)};
}

Data read_credit(const std::vector<std::string>& paths, Scale) {
  CsvOptions csv{.drop = {"NumberOfOpenCreditLinesAndLoans", "NumberRealEstateLoansOrLines"}};
  for (const char* column : {"NumberOfTime30-59DaysPastDueNotWorse",
                             "NumberOfTime60-89DaysPastDueNotWorse", "NumberOfTimes90DaysLate"})
    csv.column_missing[column] = {"96", "98"};  // codes, not counts
  const Table all = read_csv(paths.at(0), csv);
  if (all.num_rows < kUsefulness.total()) {
    throw Error(ErrorKind::data, fmt::format("{}: {} rows, wanted at least {}", paths.at(0),
                                             all.num_rows, kUsefulness.total()));
  }
  const Rows rows = shuffled_rows(all.num_rows, kCutSeed);
  const std::span<const std::uint64_t> cut(rows);
  const std::size_t seen = kUsefulness.train + kUsefulness.valid;
  return {.train = take_rows(all, cut.first(seen)),
          .test = take_rows(all, cut.subspan(seen, kUsefulness.test)),
          .valid_fraction = kUsefulness.valid_fraction()};
}

Data make_ratings(const std::vector<std::string>&, Scale scale) {
  const Sizes& sizes = scale == Scale::full ? kRaterScoreFull : kRaterScoreQuick;
  Ratings test = simulate_ratings(sizes.test, kCutSeed + 1);
  double squares = 0;
  const std::vector<float>& scores = test.table.find(kRaterScore)->numbers;
  for (std::size_t row = 0; row < sizes.test; ++row) {
    const double error = scores[row] - test.truth[row];
    squares += error * error;
  }
  return {.train = simulate_ratings(sizes.train + sizes.valid, kCutSeed).table,
          .test = std::move(test.table),
          .valid_fraction = sizes.valid_fraction(),
          .noise_floor = squares / static_cast<double>(sizes.test)};
}

std::vector<Data> make_folds(const Data& data, int count, std::uint64_t seed) {
  const Table all = joined(data.train, data.test);
  const Rows rows = shuffled_rows(all.num_rows, seed);
  const auto k = static_cast<std::size_t>(count);
  std::vector<Data> folds;
  for (std::size_t fold = 0; fold < k; ++fold) {
    Rows train, test;
    for (std::size_t i = 0; i < rows.size(); ++i) (i % k == fold ? test : train).push_back(rows[i]);
    folds.push_back({.train = take_rows(all, train),
                     .test = take_rows(all, test),
                     .valid_fraction = data.valid_fraction});
  }
  return folds;
}

}  // namespace espalier
