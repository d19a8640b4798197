// SPDX-License-Identifier: Apache-2.0
// The learner of networks: builds one of the problem's architecture, initializes it and trains it.
#pragma once

#include "train/learner.h"

namespace espalier {

class NetworkLearner : public Learner {
 public:
  std::string obstacle(const Problem& problem) const override;
  std::int64_t cost(const Problem& problem) const override;
  std::optional<Member> fit(const Problem& problem, const Fit& fit) const override;
};

}  // namespace espalier
