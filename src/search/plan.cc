// SPDX-License-Identifier: Apache-2.0
#include "search/plan.h"

#include <algorithm>
#include <cmath>

#include "search/halving.h"
#include "search/student.h"

namespace espalier {

namespace {

constexpr int kTrialsWithoutEnd = 1 + kBracket;
constexpr double kShareOfSearch = 0.6;  // of the time; the rest confirms
// Of searches where there is nothing to gain: 5 %, less what repeats add whose rows overlap now
// more and now less.
constexpr double kFalseAcceptances = 0.045;

// What a bracket takes, in whole trainings of the defaults: a third of kRungs sizes each, and a
// third more because trials may be larger.
double cost_of(int bracket) { return 4.0 / 3 * kRungs * bracket / (kEta * kEta); }

}  // namespace

// Few rows evaluate by luck, and training on them takes little time.
TuneOptions with_repeats(TuneOptions tune, std::size_t rows) {
  constexpr std::size_t kFewRows = 5000;
  tune.confirm = tune.confirm.value_or(rows < kFewRows ? 10 : 5);
  return tune;
}

Plan plan_search(const TuneOptions& tune, const Pace& pace) {
  const double time = 60 * tune.minutes;
  if (time == 0)
    return {.trials = tune.trials == 0 ? kTrialsWithoutEnd : tune.trials, .bracket = kBracket};
  const double left = std::max(0.0, time - pace.elapsed);
  const double share = tune.confirm > 0 ? kShareOfSearch : 1;
  Plan plan{.trials = tune.trials, .bracket = kBracket, .search_end = pace.elapsed + share * left};
  const double trainings = pace.seconds > 0 ? left * pace.threads / pace.seconds : 0;
  while (plan.bracket > kEta && cost_of(plan.bracket) > share * trainings) plan.bracket /= kEta;
  const bool can_confirm = (1 - share) * trainings >= 2 * tune.confirm;  // one beside the defaults
  if (plan.bracket <= kEta || !can_confirm) plan.trials = 1;
  return plan;
}

int networks_within(const TuneOptions& tune, const Pace& pace, Networks networks) {
  const auto [least, most] = networks;
  if (tune.minutes == 0) return tune.trials == 1 ? least : std::max(least, most);
  const double fit = pace.seconds > 0 ? 60 * tune.minutes * pace.threads / pace.seconds : 0;
  return std::max(least, static_cast<int>(std::min<double>(most, fit)));
}

bool clearly_lower(const std::vector<double>& defaults, const std::vector<double>& trial,
                   const Luck& luck) {
  if (defaults.size() < 2 || defaults.size() != trial.size()) return false;
  const auto count = static_cast<double>(trial.size());
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < trial.size(); ++i) sum += defaults[i] - trial[i];
  const double mean = sum / count;
  for (std::size_t i = 0; i < trial.size(); ++i)
    squares += (defaults[i] - trial[i] - mean) * (defaults[i] - trial[i] - mean);
  const double error = std::sqrt(squares / (count - 1) * (1 / count + luck.shared));
  const double tail = kFalseAcceptances / static_cast<double>(std::max<std::size_t>(1, luck.looks));
  return mean > 0 && mean > student_quantile(tail, static_cast<int>(trial.size()) - 1) * error;
}

}  // namespace espalier
