// SPDX-License-Identifier: Apache-2.0
// A synthetic table of loans whose true risk is known and monotone, with labels of several kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>

#include "espalier/fields.h"
#include "espalier/table.h"
#include "espalier/words.h"

namespace espalier {

enum class SimulatedKind { loans, claims, prices, grades };

template <>
struct Words<SimulatedKind> {
  static constexpr std::string_view list[] = {"loans", "claims", "prices", "grades"};
};

struct SimulateOptions {
  SimulatedKind kind = SimulatedKind::loans;
  std::int64_t rows = 10000;
  int numbers = 6;
  int categories = 3;
  double missing = 0.03;
  bool truth = false;
  std::uint64_t seed = 1;
};

template <class Options, class Visitor>
requires std::is_same_v<std::remove_const_t<Options>, SimulateOptions>
void visit_fields(Options& o, Visitor&& visit) {
  visit(Field{"kind",
              "the label: loans: default, yes or no; claims: exposure, number and cost of claims; "
              "prices: the interest rate; grades: low, moderate, high, severe"},
        o.kind);
  visit(Field{"rows", "number of rows", 1, 1e10}, o.rows);
  visit(Field{"numbers", "number of numeric columns", 4, 10000}, o.numbers);
  visit(Field{"categories", "number of categorical columns", 1, 10000}, o.categories);
  visit(Field{"missing", "fraction of missing values in the columns that may have them", 0, 0.9},
        o.missing);
  visit(Field{"truth",
              "add the true parameter of the label: true_risk, true_rate, true_median or "
              "true_expected"},
        o.truth);
  visit(Field{"seed", "the random seed"}, o.seed);
}

/// The risk rises with debt_ratio and late_payments and falls with income and years_employed,
/// whatever the other columns say; and with the risk rise the chance of default, the rate and the
/// mean cost of claims, the median of the interest, and the chance to reach each grade.
Table simulate(const SimulateOptions& options = {});

/// The same rows in pieces, for tables that are larger than memory.
class SimulatedPieces {
 public:
  explicit SimulatedPieces(const SimulateOptions& options);
  ~SimulatedPieces();

  /// The next rows, that many or, at the end, fewer; false if there are none left.
  bool next(std::size_t rows, Table& piece);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
