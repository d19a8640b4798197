// SPDX-License-Identifier: Apache-2.0
#include "espalier/simulate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "espalier/csv.h"
#include "espalier/error.h"
#include "simulate/loan_truth.h"

namespace espalier {
namespace {

std::string csv(const Table& table) {
  std::ostringstream out;
  write_csv(table, out);
  return out.str();
}

std::vector<std::string> names(const Table& table) {
  std::vector<std::string> result;
  for (const Column& column : table.columns) result.push_back(column.name);
  return result;
}

double missing_share(const Column& column) {
  const auto count = column.type == ColumnType::number
                         ? std::count_if(column.numbers.begin(), column.numbers.end(),
                                         [](float number) { return std::isnan(number); })
                         : std::count(column.codes.begin(), column.codes.end(), kMissingCode);
  return static_cast<double>(count) /
         static_cast<double>(std::max(column.numbers.size(), column.codes.size()));
}

bool is_yes(const Column& labels, std::size_t row) {
  return labels.categories[static_cast<std::size_t>(labels.codes[row])] == "yes";
}

TEST(Simulate, SameSeedMeansTheSameTable) {
  const std::string table = csv(simulate({.rows = 500, .seed = 7}));
  EXPECT_EQ(csv(simulate({.rows = 500, .seed = 7})), table);
  EXPECT_NE(csv(simulate({.rows = 500, .seed = 8})), table);
}

TEST(Simulate, PiecesAreTheWholeTable) {
  for (const SimulatedKind kind : {SimulatedKind::loans, SimulatedKind::claims,
                                   SimulatedKind::prices, SimulatedKind::grades}) {
    const SimulateOptions options = {
        .kind = kind, .rows = 300, .numbers = 8, .categories = 5, .missing = 0.2, .truth = true};
    for (const std::size_t rows : {1, 7, 299, 300, 301}) {
      SimulatedPieces pieces(options);
      std::string text;
      CsvWriter writer([&](std::string_view more) { text += more; });
      for (Table piece; pieces.next(rows, piece);) writer.add(piece);
      EXPECT_EQ(text, csv(simulate(options))) << rows << " rows a piece";
    }
  }
}

// Pinned, so that no machine and no change draws other tables in silence.
TEST(Simulate, DrawsTheseRows) {
  const SimulateOptions options = {
      .rows = 3, .numbers = 7, .categories = 4, .missing = 0.1, .truth = true, .seed = 1};
  EXPECT_EQ(csv(simulate(options)),
            "income,debt_ratio,late_payments,years_employed,age,loan_amount,number_7,"
            "region,purpose,housing,category_4,default,true_risk\n"
            "62600,0,1,11,28,21400,-0.21,east,education,,plum,no,0.063840345\n"
            "64800,0.59,0,4.6,32,12100,-1.22,west,debt,mortgage,ash,no,0.15071388\n"
            "24900,0.18,0,1.4,32,3100,0.8,coast,car,rent,ash,no,0.17135924\n");
}

TEST(Simulate, MoreRowsBeginAsFewerDo) {
  const std::string few = csv(simulate({.rows = 50}));
  EXPECT_EQ(csv(simulate({.rows = 80})).substr(0, few.size()), few);
}

TEST(Simulate, NamesTheColumns) {
  EXPECT_EQ(names(simulate({.rows = 5, .numbers = 4, .categories = 1})),
            (std::vector<std::string>{"income", "debt_ratio", "late_payments", "years_employed",
                                      "region", "default"}));
  EXPECT_EQ(
      names(simulate({.rows = 5, .numbers = 8, .categories = 5, .truth = true})),
      (std::vector<std::string>{"income", "debt_ratio", "late_payments", "years_employed", "age",
                                "loan_amount", "number_7", "number_8", "region", "purpose",
                                "housing", "category_4", "category_5", "default", "true_risk"}));
}

TEST(Simulate, IsReadBackTheSame) {
  const Table table = simulate({.rows = 2000, .numbers = 9, .categories = 6, .truth = true});
  const Table back = parse_csv(csv(table));
  ASSERT_EQ(names(back), names(table));
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    EXPECT_EQ(back.columns[i].type, table.columns[i].type) << table.columns[i].name;
    EXPECT_EQ(back.columns[i].categories, table.columns[i].categories);
    EXPECT_EQ(back.columns[i].codes, table.columns[i].codes);
  }
  EXPECT_EQ(csv(back), csv(table));
}

TEST(Simulate, LosesTheShareOfCellsAskedFor) {
  for (const double share : {0.0, 0.03, 0.5, 0.9}) {
    const Table table = simulate({.rows = 20000, .numbers = 7, .categories = 4, .missing = share});
    for (const Column& column : table.columns) {
      const bool is_whole = column.name == "debt_ratio" || column.name == "late_payments" ||
                            column.name == "loan_amount" || column.name == "default";
      EXPECT_NEAR(missing_share(column), is_whole ? 0.0 : share, 0.015) << column.name;
    }
  }
}

TEST(Simulate, SilenceAboutIncomeIsABadSign) {
  const Table table = simulate({.rows = 50000, .missing = 0.1});
  const Column& income = *table.find("income");
  const Column& labels = *table.find("default");
  double silent = 0, silent_yes = 0, yes = 0;
  for (std::size_t row = 0; row < table.num_rows; ++row) {
    yes += is_yes(labels, row);
    silent += std::isnan(income.numbers[row]);
    silent_yes += std::isnan(income.numbers[row]) && is_yes(labels, row);
  }
  EXPECT_GT(silent_yes / silent, 1.1 * yes / static_cast<double>(table.num_rows));
}

TEST(Simulate, LabelsFollowTheTrueRisk) {
  for (const int numbers : {4, 6, 60}) {
    const Table table = simulate({.rows = 30000, .numbers = numbers, .truth = true});
    const Column& labels = *table.find("default");
    const Column& risk = *table.find("true_risk");
    double yes = 0, expected = 0, expected_of_yes = 0;
    for (std::size_t row = 0; row < table.num_rows; ++row) {
      yes += is_yes(labels, row);
      expected += risk.numbers[row];
      if (is_yes(labels, row)) expected_of_yes += risk.numbers[row];
    }
    EXPECT_NEAR(yes / 30000, expected / 30000, 0.01);
    EXPECT_GT(yes / 30000, 0.12);
    EXPECT_LT(yes / 30000, 0.28);
    EXPECT_GT(expected_of_yes / yes, 1.5 * expected / 30000);
  }
}

TEST(Simulate, NumbersLieWhereTheyShould) {
  const Table table = simulate({.rows = 20000});
  const auto check = [&](const char* name, float least, float most, float per_unit) {
    for (const float number : table.find(name)->numbers) {
      if (std::isnan(number)) continue;
      ASSERT_GE(number, least) << name;
      ASSERT_LE(number, most) << name;
      ASSERT_EQ(number, std::round(number * per_unit) / per_unit) << name;
    }
  };
  check("income", 100, 1e7, 0.01f);
  check("debt_ratio", 0, 2, 100);
  check("late_payments", 0, 12, 1);
  check("years_employed", 0, 68, 10);
  check("age", 18, 85, 1);
  check("loan_amount", 100, 1e7, 0.01f);
}

TEST(Simulate, RefusesOptionsOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const SimulateOptions& options :
       {SimulateOptions{.rows = 0}, SimulateOptions{.rows = -1}, SimulateOptions{.numbers = 3},
        SimulateOptions{.categories = 0}, SimulateOptions{.missing = -0.1},
        SimulateOptions{.missing = 1}, SimulateOptions{.missing = nan}}) {
    try {
      simulate(options);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::argument);
    }
  }
}

Loan any_loan() {
  const auto in = [](int low, int high) {
    return static_cast<double>(*rc::gen::inRange(low, high));
  };
  return {.income = 100 * in(1, 5000),
          .debt_ratio = in(0, 200) / 100,
          .late_payments = in(0, 13),
          .years_employed = in(0, 500) / 10,
          .age = in(18, 86),
          .loan_amount = 100 * in(0, 5000),
          .region = *rc::gen::inRange(0, 8),
          .purpose = *rc::gen::inRange(0, 6),
          .housing = *rc::gen::inRange(0, 3)};
}

RC_GTEST_PROP(LoanTruth, RisesAndFallsStrictlyAsPromised, ()) {
  const Loan loan = any_loan();
  const double before = true_logit(loan);
  const auto after = [&](double Loan::*field, double step) {
    Loan other = loan;
    other.*field += step;
    return true_logit(other);
  };
  RC_ASSERT(after(&Loan::debt_ratio, 0.01) > before);
  RC_ASSERT(after(&Loan::late_payments, 1) > before);
  RC_ASSERT(after(&Loan::income, 100) < before);
  RC_ASSERT(after(&Loan::years_employed, 0.1) < before);
}

TEST(LoanTruth, IsLeastInMiddleAge) {
  Loan loan{40000, 0.3, 1, 5, 46, 10000, 0, 0, 0};
  const double middle = true_logit(loan);
  loan.age = 20;
  EXPECT_GT(true_logit(loan), middle);
  loan.age = 70;
  EXPECT_GT(true_logit(loan), middle);
}

}  // namespace
}  // namespace espalier
