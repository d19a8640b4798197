// SPDX-License-Identifier: Apache-2.0
#include "simulate/loan_truth.h"

#include <cstddef>

#include "core/math.h"

namespace espalier {
namespace {

constexpr double kRegionEffects[] = {0.0, 0.15, -0.1, 0.05, -0.2, 0.1, 0.3, -0.35};
constexpr double kPurposeEffects[] = {-0.2, -0.35, 0.2, 0.3, 0.0, 0.15};
constexpr double kHousingEffects[] = {-0.35, 0.0, 0.35};
// How much each purpose multiplies the effect of debt. All factors are positive, so that the risk
// increases in debt.
constexpr double kDebtWeights[] = {1.0, 0.6, 1.5, 1.8, 1.0, 1.2};

}  // namespace

// Each term is a product of non-negative factors that are monotonic in one input, so interactions
// such as late payments times low income are monotonic too.
double true_logit(const Loan& loan) {
  const auto purpose = static_cast<std::size_t>(loan.purpose);
  const double debt = loan.debt_ratio / (0.6 + loan.debt_ratio);              // rises, 0 to 0.8
  const double late = portable_log(1.0 + loan.late_payments);                 // rises from 0
  const double poverty = 30000.0 / (30000.0 + loan.income);                   // falls, 1 to 0
  const double novelty = portable_exp(-loan.years_employed / 4.0);            // falls, 1 to 0
  const double burden = loan.loan_amount / (loan.loan_amount + loan.income);  // falls with income
  const double from_middle_age = (loan.age - 46.0) / 20.0;

  return -4.9 + 2.2 * kDebtWeights[purpose] * debt + 0.9 * late + 2.0 * poverty + 0.9 * novelty +
         0.8 * burden + 0.45 * from_middle_age * from_middle_age + 1.0 * debt * late +
         1.2 * late * poverty + 0.8 * novelty * debt +
         kRegionEffects[static_cast<std::size_t>(loan.region)] + kPurposeEffects[purpose] +
         kHousingEffects[static_cast<std::size_t>(loan.housing)];
}

}  // namespace espalier
