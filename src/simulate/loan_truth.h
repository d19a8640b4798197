// SPDX-License-Identifier: Apache-2.0
// The true risk of the synthetic loans: who defaults, and why.
#pragma once

#include <array>
#include <string_view>

namespace espalier {

inline constexpr std::array<std::string_view, 8> kRegions = {"north",  "south", "east",  "west",
                                                             "center", "coast", "hills", "islands"};
inline constexpr std::array<std::string_view, 6> kPurposes = {"car",      "home",      "debt",
                                                              "business", "education", "other"};
inline constexpr std::array<std::string_view, 3> kHousings = {"own", "mortgage", "rent"};

// A loan applicant as in the table; numbers are already rounded.
struct Loan {
  double income;         // per year, positive
  double debt_ratio;     // 0 to 2
  double late_payments;  // a count
  double years_employed;
  double age;
  double loan_amount;
  int region;  // index into the names above
  int purpose;
  int housing;
};

// The log-odds of default. They are strictly increasing in debt_ratio and late_payments, strictly
// decreasing in income and years_employed, and U-shaped in age.
double true_logit(const Loan& loan);

}  // namespace espalier
