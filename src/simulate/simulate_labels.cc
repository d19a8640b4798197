// SPDX-License-Identifier: Apache-2.0
#include "simulate/simulate_labels.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/math.h"

namespace espalier {

namespace {

Column numbers(std::string name) { return {.name = std::move(name)}; }

Column words(std::string name, std::vector<std::string> list) {
  return {.name = std::move(name), .type = ColumnType::category, .categories = std::move(list)};
}

void add(Column& column, double value, double per_unit) {
  column.numbers.push_back(static_cast<float>(std::round(value * per_unit) / per_unit));
}

DrawnLabels draw_defaults(std::span<const double> logits, Random& random) {
  Column labels = words("default", {"no", "yes"}), truth = numbers("true_risk");
  for (const double logit : logits) {
    labels.codes.push_back(random.uniform() < default_risk(logit) ? 1 : 0);
    truth.numbers.push_back(static_cast<float>(default_risk(logit)));
  }
  return {{std::move(labels)}, std::move(truth)};
}

// Events of a Poisson process during the exposure, each with a cost whose mean increases too.
DrawnLabels draw_claims(std::span<const double> logits, Random& random) {
  Column exposure = numbers("exposure"), claims = numbers("claims"), cost = numbers("cost");
  Column truth = numbers("true_rate");
  const auto waiting = [&] { return -portable_log(1 - random.uniform()); };
  for (const double logit : logits) {
    const double rate = portable_exp(0.6 * logit - 0.5),
                 mean_cost = 500 * portable_exp(0.2 * logit);
    add(exposure, 0.05 + 0.95 * random.uniform(), 100);
    double count = 0, total = 0;
    for (double time = waiting() / rate; time < exposure.numbers.back(); time += waiting() / rate) {
      ++count;
      total += mean_cost * (waiting() + waiting()) / 2;
    }
    claims.numbers.push_back(static_cast<float>(count));
    add(cost, total, 100);
    truth.numbers.push_back(static_cast<float>(rate));
  }
  return {{std::move(exposure), std::move(claims), std::move(cost)}, std::move(truth)};
}

// The interest rate: its median and its spread increase with the risk.
DrawnLabels draw_prices(std::span<const double> logits, Random& random) {
  Column labels = numbers("interest"), truth = numbers("true_median");
  for (const double logit : logits) {
    const double median = 3 + 6 * default_risk(0.8 * logit + 1);
    add(labels, median + 0.3 * (median - 2) * random.normal(), 1000);
    truth.numbers.push_back(static_cast<float>(median));
  }
  return {{std::move(labels)}, std::move(truth)};
}

// P(at least grade k) = sigmoid(logit - threshold k), k = 2, 3, ...
DrawnLabels draw_grades(std::span<const double> logits, Random& random) {
  constexpr double kThresholds[] = {-3, -1.5, 0};
  Column labels = words("grade", {"low", "moderate", "high", "severe"});
  Column truth = numbers("true_expected");
  for (const double logit : logits) {
    const double u = random.uniform();
    double expected = 1;
    for (const double threshold : kThresholds) expected += default_risk(logit - threshold);
    labels.codes.push_back(static_cast<std::int32_t>(std::ranges::count_if(
        kThresholds, [&](double threshold) { return u < default_risk(logit - threshold); })));
    truth.numbers.push_back(static_cast<float>(expected));
  }
  return {{std::move(labels)}, std::move(truth)};
}

}  // namespace

double default_risk(double logit) { return 1.0 / (1.0 + portable_exp(-logit)); }

DrawnLabels draw_labels(SimulatedKind kind, std::span<const double> logits, Random& random) {
  switch (kind) {
    case SimulatedKind::loans:
      break;
    case SimulatedKind::claims:
      return draw_claims(logits, random);
    case SimulatedKind::prices:
      return draw_prices(logits, random);
    case SimulatedKind::grades:
      return draw_grades(logits, random);
  }
  return draw_defaults(logits, random);
}

}  // namespace espalier
