// SPDX-License-Identifier: Apache-2.0
// Streams of random numbers of one seed, so that one choice does not shift another.
#pragma once

#include <cstdint>

namespace espalier {

enum Stream : std::uint64_t {
  kSplitStream = 1,        // which rows are held out
  kFoldStream = 2,         // which rows are in which fold
  kTrialStream = 3,        // the settings of trials, a stream each
  kCrystalStream = 4,      // the search for lattices
  kRotationStream = 5,     // which rows the further networks of an ensemble hold out
  kRepeatStream = 6,       // the seeds of trainings that confirm a trial, a stream each
  kInteractionStream = 7,  // the search for pairs of columns
  kTreeStream = 8,         // the candidate features of each tree, by network
  kMemberStream = 1000,    // 1000 + m: the m-th network of an ensemble
};

}  // namespace espalier
