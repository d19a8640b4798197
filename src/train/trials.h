// SPDX-License-Identifier: Apache-2.0
// Settings that the validation rows decide: the length of training, the size, the penalties. Each is a
// whole training of the first network from the start, so that what is chosen is the network that the
// same settings give as flags.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/train.h"
#include "train/held_out.h"

namespace espalier {

/// What a caller has left open and the table may decide.
struct OpenSettings {
  bool epochs = false;
  bool calibrator_hessian = false;
  bool weight_decay = false;
  bool tree_share = false;
  std::vector<std::string> larger = {};  // architectures, each larger than the one before
};

/// Which settings come next. They follow from the first ones and from how the trainings went, so a
/// run that goes on after a kill needs to know only that.
class Trials {
 public:
  Trials(const TrainOptions& first, const OpenSettings& open, std::size_t rows);

  /// Of the training that comes next, and of the best one so far; at first both are the first ones.
  const TrainOptions& trying() const { return trying_; }
  const TrainOptions& best() const { return best_; }
  bool done() const { return step_ == Step::done; }

  /// Takes how much lower the loss of what was tried is than that of the best before it; for the
  /// first training, which has none before it, that does not matter. Returns whether it is the best
  /// one now. Not once done().
  bool judge(const Fall& fall);
  const std::vector<Fall>& falls() const { return falls_; }

  /// What was chosen, and why.
  const std::vector<Choice>& choices() const { return choices_; }

 private:
  enum class Step { epochs, architecture, calibrator_hessian, weight_decay, done };

  bool find_next();
  bool is_open() const;
  bool change(TrainOptions& options) const;
  std::string value_in(const TrainOptions& options) const;
  void conclude(const std::string& rest);

  const TrainOptions first_;
  const OpenSettings open_;
  const std::int64_t rows_;
  const bool few_rows_;
  Step step_ = Step::epochs;
  TrainOptions best_ = first_;
  TrainOptions trying_ = first_;
  bool has_tried_ = false;  // in this step
  std::string why_;  // the value that the best has in this step is better than the one before
  std::vector<Fall> falls_;
  std::vector<Choice> choices_;
};

}  // namespace espalier
