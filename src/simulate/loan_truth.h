// SPDX-License-Identifier: Apache-2.0
// The truth behind the synthetic loans of simulate: who defaults, and why.
#pragma once

#include <array>
#include <string_view>

namespace espalier {

inline constexpr std::array<std::string_view, 8> kRegions = {"north",  "south", "east",  "west",
                                                             "center", "coast", "hills", "islands"};
inline constexpr std::array<std::string_view, 6> kPurposes = {"car",      "home",      "debt",
                                                              "business", "education", "other"};
inline constexpr std::array<std::string_view, 3> kHousings = {"own", "mortgage", "rent"};

// One applicant for a loan, as the table shows him: numbers are rounded already.
struct Loan {
  double income;         // a year, more than 0
  double debt_ratio;     // 0 to 2
  double late_payments;  // a count
  double years_employed;
  double age;
  double loan_amount;
  int region;  // indices into the words above
  int purpose;
  int housing;
};

// The logit of the risk of default. It rises with debt_ratio and late_payments and falls with
// income and years_employed, strictly and whatever the other values are; in age it has the shape of
// a U.
double true_logit(const Loan& loan);

}  // namespace espalier
