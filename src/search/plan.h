// SPDX-License-Identifier: Apache-2.0
// How a search spends its time, and when one trial is better than another.
#pragma once

#include <cstddef>
#include <vector>

#include "espalier/tune.h"

namespace espalier {

/// With the number of repeats that suits so many training rows, where it is left open.
TuneOptions with_repeats(TuneOptions tune, std::size_t rows);

struct Plan {
  int trials = 0;         // in all; 0: without end
  int bracket = 0;        // trials of a bracket
  double search_end = 0;  // in seconds since the search began; 0: none
};

/// How quickly trainings come.
struct Pace {
  double seconds = 0;  // that one takes on one thread; 0: it was stopped
  double threads = 1;  // trainings side by side
  double elapsed = 0;  // seconds that are over
};

/// With a limit of time: what the time cannot confirm is not searched.
Plan plan_search(const TuneOptions& tune, const Pace& pace);

/// At least and at most so many networks.
struct Networks {
  int least;
  int most;
};

/// How many networks the final model has: as many as train in the time of the search, all if it has
/// no limit, the least if there is one trial. The losses are convex in the score, so by Jensen's
/// inequality that of a mean of scores is at most the mean of the losses: on any rows an ensemble
/// is as good as its networks are in the mean, or better.
int networks_within(const TuneOptions& tune, const Pace& pace, Networks networks);

/// What makes a difference look clearer than it is.
struct Luck {
  std::size_t looks = 1;  // trials of which the best might be accepted by chance
  double shared = 0;      // v / (n - v) where v rows of n are held out at random each time
};

/// Whether the losses of a trial are lower than those of the defaults, training by training: where
/// there is nothing to gain, one of all looks is accepted in at most 5 % of searches. The mean of
/// the differences must exceed t s sqrt(1 / count + shared). t is Student's quantile for count - 1
/// degrees at 4.5 % / looks (Bonferroni); s is the deviation of the differences; `shared` corrects
/// for rows that several trainings hold out (Nadeau and Bengio, 2003). Fewer than two losses are
/// never clear.
bool clearly_lower(const std::vector<double>& defaults, const std::vector<double>& trial,
                   const Luck& luck);

}  // namespace espalier
