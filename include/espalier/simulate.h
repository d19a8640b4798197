// SPDX-License-Identifier: Apache-2.0
// A made-up table of loans whose true risk of default is known and monotone.
#pragma once

#include <cstdint>
#include <type_traits>

#include "espalier/fields.h"
#include "espalier/table.h"

namespace espalier {

struct SimulateOptions {
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
  visit(Field{"rows", "how many", 1, 1e10}, o.rows);
  visit(Field{"numbers", "number columns; the first six have names of their own", 4, 10000},
        o.numbers);
  visit(Field{"categories", "category columns; the first three have names of their own", 1, 10000},
        o.categories);
  visit(Field{"missing", "share of missing cells in the columns that may have them", 0, 0.9},
        o.missing);
  visit(Field{"truth", "add a column true_risk, the probability that the label was drawn with"},
        o.truth);
  visit(Field{"seed", "same seed, same table"}, o.seed);
}

/// The risk of default rises with debt_ratio and late_payments and falls with income and
/// years_employed, whatever the other columns say. The label is `default`, yes or no.
Table simulate(const SimulateOptions& options = {});

}  // namespace espalier
