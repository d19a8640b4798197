// SPDX-License-Identifier: Apache-2.0
// Generates loans. Each column has its own random stream, and the named columns are drawn row by
// row. A table with more rows or columns therefore begins with the smaller table.
#include "espalier/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/check_fields.h"
#include "core/default_floats.h"
#include "core/math.h"
#include "core/random.h"
#include "simulate/loan_truth.h"
#include "simulate/simulate_labels.h"

namespace espalier {
namespace {

constexpr int kNamedNumbers = 6;
constexpr int kNamedCategories = 3;
constexpr double kTypicalAge = 46;

// The first columns after the named ones have a small effect, the others none.
constexpr double kNumberSlopes[] = {0.25, -0.15, 0.1};
constexpr double kCategorySlopes[] = {0.2, -0.15};

// Random streams; extra columns and missing values have one per column.
enum Stream : std::uint64_t {
  kLoans = 0,
  kLabels = 1,
  kExtraNumbers = 1 << 20,
  kExtraCategories = 2 << 20,
  kMissingNumbers = 3 << 20,
  kMissingCategories = 4 << 20,
};

// The state of each stream, which continues from piece to piece.
class Streams {
 public:
  explicit Streams(std::uint64_t seed) : root_(seed) {}

  Random& operator[](std::uint64_t stream) {
    return streams_.try_emplace(stream, root_.split(stream)).first->second;
  }

 private:
  const Random root_;
  std::map<std::uint64_t, Random> streams_;
};

// Rounds to the nearest multiple of 1 / per_unit, as a float.
double rounded(double value, double per_unit) {
  return static_cast<float>(std::round(value * per_unit) / per_unit + 0.0);  // no -0
}

int draw_index(Random& random, std::span<const double> shares) {
  double rest = random.uniform();
  int index = 0;
  while (index + 1 < static_cast<int>(shares.size()) && rest >= shares[index]) {
    rest -= shares[index++];
  }
  return index;
}

// Poisson: counts how many uniform numbers have a product of at least exp(-mean).
double draw_count(Random& random, double mean) {
  constexpr int kMax = 12;
  const double limit = portable_exp(-mean);
  int count = 0;
  for (double product = random.uniform(); product > limit && count < kMax; ++count) {
    product *= random.uniform();
  }
  return count;
}

Loan draw_loan(Random& random) {
  constexpr double kRegionShares[] = {0.26, 0.2, 0.16, 0.13, 0.1, 0.07, 0.05, 0.03};
  constexpr double kPurposeShares[] = {0.3, 0.22, 0.2, 0.12, 0.1, 0.06};
  const double carelessness = random.normal();  // hidden: correlates debts and late payments
  Loan loan;
  loan.age = std::clamp(rounded(42 + 14 * random.normal(), 1), 18.0, 85.0);
  const double years = -7 * portable_log(1 - random.uniform());
  loan.years_employed = std::min(rounded(years, 10), loan.age - 17);
  const double career = 0.02 * std::min(loan.years_employed, 20.0);
  loan.income = 100 * std::round(portable_exp(5.85 + career + 0.5 * random.normal()));
  const double debt = 0.33 * portable_exp(0.6 * random.normal() + 0.3 * carelessness);
  loan.debt_ratio = random.uniform() < 0.08 ? 0.0 : std::min(rounded(debt, 100), 2.0);
  loan.late_payments = draw_count(random, 0.45 * portable_exp(0.8 * carelessness));
  loan.loan_amount = 100 * std::ceil(loan.income * (0.05 + 0.6 * random.uniform()) / 100);
  loan.region = draw_index(random, kRegionShares);
  loan.purpose = draw_index(random, kPurposeShares);
  const double owns = std::clamp((loan.age - 20) / 100, 0.02, 0.5);
  loan.housing = draw_index(random, std::array{owns, 0.38, 0.62 - owns});
  return loan;
}

Column number_column(std::string name, std::size_t rows) {
  Column column;
  column.name = std::move(name);
  column.numbers.reserve(rows);
  return column;
}

Column category_column(std::string name, std::span<const std::string_view> words,
                       std::size_t rows) {
  Column column;
  column.name = std::move(name);
  column.type = ColumnType::category;
  column.categories.assign(words.begin(), words.end());
  column.codes.reserve(rows);
  return column;
}

struct Loans {
  std::vector<Column> numbers;
  std::vector<Column> categories;
  std::vector<double> logits;  // of the true risk, one per row
};

// The named columns. Absent ones have typical values.
Loans draw_loans(const SimulateOptions& options, std::size_t rows, Random& random) {
  constexpr const char* kNames[kNamedNumbers] = {"income",         "debt_ratio", "late_payments",
                                                 "years_employed", "age",        "loan_amount"};
  Loans loans;
  for (const char* name : kNames) loans.numbers.push_back(number_column(name, rows));
  loans.categories.push_back(category_column("region", kRegions, rows));
  loans.categories.push_back(category_column("purpose", kPurposes, rows));
  loans.categories.push_back(category_column("housing", kHousings, rows));
  loans.logits.reserve(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    Loan loan = draw_loan(random);
    if (options.numbers < 5) loan.age = kTypicalAge;
    if (options.numbers < 6) loan.loan_amount = 0.3 * loan.income;
    if (options.categories < 2) loan.purpose = 0;
    if (options.categories < 3) loan.housing = 1;
    const double numbers[] = {loan.income,         loan.debt_ratio, loan.late_payments,
                              loan.years_employed, loan.age,        loan.loan_amount};
    for (int i = 0; i < kNamedNumbers; ++i) {
      loans.numbers[i].numbers.push_back(static_cast<float>(numbers[i]));
    }
    const int codes[] = {loan.region, loan.purpose, loan.housing};
    for (int i = 0; i < kNamedCategories; ++i) loans.categories[i].codes.push_back(codes[i]);
    loans.logits.push_back(true_logit(loan));
  }
  loans.numbers.resize(std::min(options.numbers, kNamedNumbers));
  loans.categories.resize(std::min(options.categories, kNamedCategories));
  return loans;
}

// number_7, number_8, ...: normal, with two decimals.
void add_extra_number(Loans& loans, int k, Random& random) {
  const std::size_t rows = loans.logits.size();
  Column column = number_column(fmt::format("number_{}", k), rows);
  const auto extra = static_cast<std::size_t>(k - kNamedNumbers - 1);
  const double slope = extra < std::size(kNumberSlopes) ? kNumberSlopes[extra] : 0.0;
  for (double& logit : loans.logits) {
    const double value = rounded(random.normal(), 100);
    column.numbers.push_back(static_cast<float>(value));
    logit += slope * value;
  }
  loans.numbers.push_back(std::move(column));
}

// category_4, category_5, ...: two to eleven categories, the first ones more frequent.
void add_extra_category(Loans& loans, int k, Random& random) {
  constexpr std::array<std::string_view, 11> kWords = {
      "oak", "elm", "ash", "fir", "yew", "pear", "plum", "lime", "fig", "hazel", "cedar"};
  const std::size_t rows = loans.logits.size();
  const auto words = std::span(kWords).first(2 + static_cast<std::size_t>(k * 7 % 10));
  Column column = category_column(fmt::format("category_{}", k), words, rows);
  const auto extra = static_cast<std::size_t>(k - kNamedCategories - 1);
  const double slope = extra < std::size(kCategorySlopes) ? kCategorySlopes[extra] : 0.0;
  for (double& logit : loans.logits) {
    const double u = random.uniform();
    const auto code = static_cast<std::int32_t>(u * u * static_cast<double>(words.size()));
    column.codes.push_back(code);
    logit += code % 2 == 0 ? slope : -slope;
  }
  loans.categories.push_back(std::move(column));
}

// Makes values missing; the odds of a value are those of `share` times odds(row).
template <class Odds>
void drop_cells(Column& column, double share, Random& random, Odds&& odds) {
  const std::size_t rows = std::max(column.numbers.size(), column.codes.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const double weight = share * odds(row);
    if (random.uniform() >= weight / (1 - share + weight)) continue;
    if (column.type == ColumnType::number) {
      column.numbers[row] = std::numeric_limits<float>::quiet_NaN();
    } else {
      column.codes[row] = kMissingCode;
    }
  }
}

void drop_cells(Loans& loans, const SimulateOptions& options, Streams& streams) {
  const auto evenly = [](std::size_t) { return 1.0; };
  // Applicants who will default are more likely to omit their income: a factor of about 1 at the
  // mean risk.
  const auto by_risk = [&](std::size_t row) { return 0.7 + 1.5 * default_risk(loans.logits[row]); };
  for (std::size_t i = 0; i < loans.numbers.size(); ++i) {
    Column& column = loans.numbers[i];
    Random& random = streams[kMissingNumbers + i];
    if (column.name == "income") {
      drop_cells(column, options.missing, random, by_risk);
    } else if (column.name != "debt_ratio" && column.name != "late_payments" &&
               column.name != "loan_amount") {
      drop_cells(column, options.missing, random, evenly);
    }
  }
  for (std::size_t i = 0; i < loans.categories.size(); ++i)
    drop_cells(loans.categories[i], options.missing, streams[kMissingCategories + i], evenly);
}

// Orders the categories of a column by first appearance, as in a file.
void renumber(Column& column) {
  std::vector<std::int32_t> new_codes(column.categories.size(), kMissingCode);
  std::vector<std::string> words;
  for (std::int32_t& code : column.codes) {
    if (code == kMissingCode) continue;
    std::int32_t& new_code = new_codes[static_cast<std::size_t>(code)];
    if (new_code == kMissingCode) {
      new_code = static_cast<std::int32_t>(words.size());
      words.push_back(column.categories[static_cast<std::size_t>(code)]);
    }
    code = new_code;
  }
  column.categories = std::move(words);
}

}  // namespace

struct SimulatedPieces::State {
  SimulateOptions options;
  Streams streams;
  std::int64_t rows_left;
};

SimulatedPieces::SimulatedPieces(const SimulateOptions& options) {
  check_fields(options);
  state_.reset(new State{options, Streams(options.seed), options.rows});
}

SimulatedPieces::~SimulatedPieces() = default;

bool SimulatedPieces::next(std::size_t rows, Table& piece) {
  auto& [options, streams, rows_left] = *state_;
  piece = {.name = "simulated loans",
           .num_rows = std::min(rows, static_cast<std::size_t>(rows_left)),
           .first_row = static_cast<std::size_t>(options.rows - rows_left)};
  rows_left -= static_cast<std::int64_t>(piece.num_rows);
  Loans loans = draw_loans(options, piece.num_rows, streams[kLoans]);
  for (int k = kNamedNumbers + 1; k <= options.numbers; ++k)
    add_extra_number(loans, k, streams[kExtraNumbers + static_cast<std::uint64_t>(k)]);
  for (int k = kNamedCategories + 1; k <= options.categories; ++k)
    add_extra_category(loans, k, streams[kExtraCategories + static_cast<std::uint64_t>(k)]);
  DrawnLabels labels = draw_labels(options.kind, loans.logits, streams[kLabels]);
  drop_cells(loans, options, streams);

  piece.columns = std::move(loans.numbers);
  std::move(loans.categories.begin(), loans.categories.end(), std::back_inserter(piece.columns));
  std::ranges::move(labels.columns, std::back_inserter(piece.columns));
  for (Column& column : piece.columns) renumber(column);
  if (options.truth) piece.columns.push_back(std::move(labels.truth));
  return piece.num_rows > 0;
}

Table simulate(const SimulateOptions& options) {
  const DefaultFloats floats;
  Table table;
  SimulatedPieces(options).next(static_cast<std::size_t>(options.rows), table);
  return table;
}

}  // namespace espalier
