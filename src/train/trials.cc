// SPDX-License-Identifier: Apache-2.0
#include "train/trials.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace espalier {

namespace {

// What is tried must lower the loss by so many standard deviations. Few rows are so noisy that one
// would mostly be too much to ask, and training on them takes little time: they may train for longer
// too.
constexpr std::size_t kFewRows = 5000;
constexpr double kClearlyLower = 1, kLowerOfFewRows = 0.5;
constexpr int kMostTimesAsLong = 8, kMostTimesOfFewRows = 32;
constexpr std::int64_t kMostRowsOfATraining = 8'000'000;

// Curves may bend more: a table without much noise wants that. Two steps make the penalty as good
// as none.
constexpr double kLessHessian = 0.1;
constexpr double kLeastHessian = 0.005;  // of the first

}  // namespace

Trials::Trials(const TrainOptions& first, const OpenSettings& open, std::size_t rows)
    : first_(first),
      open_(open),
      rows_(static_cast<std::int64_t>(rows)),
      few_rows_(rows < kFewRows) {}

bool Trials::judge(const Fall& fall) {
  const bool is_first = falls_.empty();
  const bool is_better = is_first || fall.is_clear(few_rows_ ? kLowerOfFewRows : kClearlyLower);
  falls_.push_back(fall);
  if (!is_better) {
    conclude(
        fmt::format("with {} {}", value_in(trying_),
                    why_.empty() ? "the loss of the validation rows is not clearly lower" : "not"));
  } else {
    if (!is_first)
      why_ =
          fmt::format("the loss of the validation rows is {:.1f} deviations lower than with {}, ",
                      fall.mean / fall.error, value_in(best_));
    best_ = trying_;
  }
  while (!done() && !find_next()) conclude("no more are tried");
  return is_better;
}

// Sets what is tried; false if this step has nothing more to try.
bool Trials::find_next() {
  trying_ = best_;
  if (!is_open() || !change(trying_) || rows_ * trying_.epochs > kMostRowsOfATraining) return false;
  has_tried_ = true;
  return true;
}

bool Trials::is_open() const {
  switch (step_) {
    case Step::epochs:
      return open_.epochs;
    case Step::architecture:  // where a longer training does not pay, a larger network does not
      return best_.epochs > first_.epochs;
    case Step::calibrator_hessian:
      return open_.calibrator_hessian;
    case Step::weight_decay:
      return open_.weight_decay;
    case Step::done:
      break;
  }
  return false;
}

bool Trials::change(TrainOptions& options) const {
  switch (step_) {
    case Step::epochs:
      options.epochs *= 2;
      return options.epochs <= (few_rows_ ? kMostTimesOfFewRows : kMostTimesAsLong) * first_.epochs;
    case Step::architecture: {
      const auto now = std::ranges::find(open_.larger, options.architecture);
      const auto next = now == open_.larger.end() ? open_.larger.begin() : now + 1;
      if (next == open_.larger.end()) return false;
      options.architecture = *next;
      return true;
    }
    case Step::calibrator_hessian:
      options.calibrator_hessian *= kLessHessian;
      return options.calibrator_hessian > kLeastHessian * first_.calibrator_hessian;
    case Step::weight_decay:
      return std::exchange(options.weight_decay, 0.0) > 0;
    case Step::done:
      break;
  }
  return false;
}

std::string Trials::value_in(const TrainOptions& options) const {
  switch (step_) {
    case Step::epochs:
      return std::to_string(options.epochs);
    case Step::architecture:
      return options.architecture;
    case Step::calibrator_hessian:
      return fmt::format("{}", options.calibrator_hessian);
    case Step::weight_decay:
      return fmt::format("{}", options.weight_decay);
    case Step::done:
      break;
  }
  return {};
}

// Ends a step.
void Trials::conclude(const std::string& rest) {
  constexpr const char* kNames[] = {"epochs", "architecture", "calibrator_hessian", "weight_decay"};
  const auto at = static_cast<std::size_t>(step_);
  if (has_tried_) choices_.push_back({kNames[at], value_in(best_), why_ + rest});
  has_tried_ = false;
  why_.clear();
  step_ = static_cast<Step>(at + 1);
}

}  // namespace espalier
