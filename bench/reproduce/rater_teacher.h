// SPDX-License-Identifier: Apache-2.0
// Synthetic rater scores of the shape of the paper's Rater Score problem: ten inputs that all raise
// the score, and a label that is the mean of one to five raters. What a perfect model would predict
// is known, and so is the error that it would be left with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/table.h"

namespace espalier {

inline constexpr const char* kRaterScore = "score";

/// signal_1 ... signal_10, in increasing order of their number.
std::vector<std::string> rater_signals();

struct Ratings {
  Table table;                ///< the signals and the score, from 0 to 4
  std::vector<double> truth;  ///< the expected score of each row
};

/// The same seed gives the same rows everywhere.
Ratings simulate_ratings(std::size_t rows, std::uint64_t seed);

/// The expected score of ten signals in [0, 1]; it rises with each of them.
double expected_score(const std::vector<double>& signals);

}  // namespace espalier
