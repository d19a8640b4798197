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
  double seconds;      // that one takes on one thread; 0: not known
  double threads;      // trainings side by side
  double elapsed = 0;  // seconds that are over
};

/// What the time cannot confirm is not searched.
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

/// Whether the losses of a trial are lower than those of the defaults, repeat by repeat, by more than
/// two standard errors in the mean; of one repeat, whether it is lower. Not if either has none. Of three
/// leaders that are no better than the defaults one would pass half of the time with one error.
bool clearly_lower(const std::vector<double>& defaults, const std::vector<double>& trial);

}  // namespace espalier
