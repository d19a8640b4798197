// SPDX-License-Identifier: Apache-2.0
// The learner of boosted trees. Their errors differ from those of a network, so a weighted mean of
// both is mostly better than either.
#pragma once

#include "train/learner.h"

namespace espalier {

class TreeLearner : public Learner {
 public:
  std::string obstacle(const Problem& problem) const override;
  std::int64_t cost(const Problem& problem) const override;
  /// Nothing if no tree improves the loss of the validation rows, or if it was stopped.
  std::optional<Member> fit(const Problem& problem, const Fit& fit) const override;
};

}  // namespace espalier
