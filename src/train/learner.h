// SPDX-License-Identifier: Apache-2.0
// What a learner is: it fits one member of the mixture to a problem. Networks and boosted trees are
// learners. They do not know each other; the session (train/train.cc) fits their members beside
// each other and mixes them. A learner that continues from given scores reads them from the offset
// column of the problem.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/train.h"
#include "model/model_data.h"
#include "train/problem.h"
#include "train/team.h"

namespace espalier {

/// How far a fit is. Rows count as often as the fit reads them: Learner::cost has the unit.
struct FitProgress {
  std::int64_t rows_done = 0;
  std::int64_t rows_total = 0;  // as far as can be told now
  double loss = 0;              // of the running epoch
  Epoch last = {};              // the last evaluated epoch
  bool epoch_finished = false;
  int trees = 0;
};

/// One fit of many: which member, who works on it, and where it begins.
struct Fit {
  int number = 1;          // of the member among those of its learner
  Team* team;              // which says when to stop
  std::string state = {};  // of an earlier run of this fit, to continue from; empty: none
  std::string place = {};  // where the state is from, for messages
  std::function<void(const FitProgress&)> report;
  /// Whether a state should be kept now, and keeping one. A fit that is stopped keeps its state.
  std::function<bool()> state_is_due;
  std::function<void(std::string)> keep_state;
  bool keeps_every_step = false;
};

/// What a fit gives.
struct Member {
  ModelMember fitted;               // its weight means nothing yet
  std::vector<Epoch> history = {};  // of networks
  Epoch best = {};
  std::int64_t rows = 0;  // that the fit has read
};

class Learner {
 public:
  virtual ~Learner() = default;

  /// Why it cannot fit this problem; empty if it can.
  virtual std::string obstacle(const Problem& problem) const = 0;

  /// Rows that the fit of a member will read, in units of a network's rows, as far as can be told
  /// before.
  virtual std::int64_t cost(const Problem& problem) const = 0;

  /// The same member for any number of threads and ranks and after any kill. Nothing if no member
  /// is better than a constant, or if it was stopped before there was one.
  virtual std::optional<Member> fit(const Problem& problem, const Fit& fit) const = 0;
};

}  // namespace espalier
