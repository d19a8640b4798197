// SPDX-License-Identifier: Apache-2.0
// Successive halving: which run comes next.
//
// Trial 1, the defaults, runs once, with all its epochs, before everything else. The others compete
// in brackets of kBracket, or of fewer: the best third of a rung, at least one, goes on to the
// next. A rung is decided when all of it is finished, so who goes on depends on no clock; while it
// is not, the next bracket keeps the threads busy.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace espalier {

inline constexpr int kRungs = 3;
inline constexpr int kEta = 3;  // the epochs grow and the trials shrink by this
inline constexpr int kBracket = 27;

/// Of a trial with this many in all.
int epochs_at_rung(int epochs, int rung);

struct Job {
  int trial;
  int rung;

  friend auto operator<=>(const Job&, const Job&) = default;
};

class Halving {
 public:
  /// Trials in all, 0: without end; and of a bracket.
  explicit Halving(int trials, int bracket = kBracket) : trials_(trials), bracket_(bracket) {}

  /// The next one to run; nothing if all that is left waits for others to finish.
  std::optional<Job> next();

  /// The smaller the loss the better; NaN is the worst.
  void finish(const Job& job, double loss);

 private:
  struct Rung {
    std::vector<int> trials;  // in it
    std::size_t started = 0;
    std::vector<std::pair<double, int>> finished;  // loss, trial
  };
  using Bracket = std::array<Rung, kRungs>;

  bool open_bracket();

  int trials_;
  int bracket_;
  bool defaults_started_ = false;
  std::vector<Bracket> brackets_;
};

}  // namespace espalier
