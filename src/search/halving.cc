// SPDX-License-Identifier: Apache-2.0
#include "search/halving.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier {

int epochs_at_rung(int epochs, int rung) {
  for (; rung < kRungs; ++rung) epochs = (epochs + kEta - 1) / kEta;
  return epochs;
}

bool Halving::open_bracket() {
  const int first = 2 + bracket_ * static_cast<int>(brackets_.size());
  const int last = trials_ == 0 ? first + bracket_ - 1 : std::min(first + bracket_ - 1, trials_);
  if (last < first) return false;
  Bracket& bracket = brackets_.emplace_back();
  for (int trial = first; trial <= last; ++trial) bracket[0].trials.push_back(trial);
  return true;
}

std::optional<Job> Halving::next() {
  if (!std::exchange(defaults_started_, true)) return Job{1, kRungs};
  do {
    for (Bracket& bracket : brackets_) {
      for (int rung = kRungs; rung > 0; --rung) {
        Rung& at = bracket[static_cast<std::size_t>(rung - 1)];
        if (at.started < at.trials.size()) return Job{at.trials[at.started++], rung};
      }
    }
  } while (open_bracket());
  return std::nullopt;
}

void Halving::finish(const Job& job, double loss) {
  if (job.trial == 1) return;
  Bracket& bracket = brackets_[static_cast<std::size_t>((job.trial - 2) / bracket_)];
  Rung& rung = bracket[static_cast<std::size_t>(job.rung - 1)];
  rung.finished.emplace_back(std::isnan(loss) ? std::numeric_limits<double>::infinity() : loss,
                             job.trial);
  if (job.rung == kRungs || rung.finished.size() < rung.trials.size()) return;
  std::sort(rung.finished.begin(), rung.finished.end());
  const std::size_t best = std::max<std::size_t>(1, rung.finished.size() / kEta);
  for (std::size_t i = 0; i < best; ++i)
    bracket[static_cast<std::size_t>(job.rung)].trials.push_back(rung.finished[i].second);
}

}  // namespace espalier
