// SPDX-License-Identifier: Apache-2.0
// Looks for a pair of rows that breaks monotonicity: the second row is the first with inputs moved
// so that the prediction must not fall. Rows come in chains, each raised from the one before:
// by adjacent floats, across keypoints, around zero through the subnormal numbers, from one
// infinity to the other; one input at a time, several, or all that are monotone. Before these, rows
// step across the thresholds of tree splits.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/random.h"
#include "core/thread_pool.h"
#include "espalier/schema.h"
#include "eval/tree_thresholds.h"

namespace espalier {

struct CounterExamples {
  std::size_t pairs = 0;
  std::size_t violations = 0;
  std::size_t crossings = 0;   // rows whose levels are not in their order
  std::size_t thresholds = 0;  // of tree splits
  std::size_t thresholds_crossed = 0;
  double largest_drop = 0;
  std::vector<std::string> culprits;  // the first few
};

/// Predicts rows of cells (as a Predictor takes them) for one thread: out is [rows][num_scores] of
/// the schema's label.
using RowFunction = std::function<void(std::span<const float> rows, std::span<float> out)>;

/// Tries so many pairs; none if no feature is monotone and the label has no levels. A pair is a
/// violation if one of its numbers falls, a row if its levels cross. Where `directions` is not
/// empty, it says of each number whether it may not fall (1), may not rise (-1) or may do as it
/// likes (0). Each of `thresholds` is stepped across once, from just below it onto it and then just
/// above it; if that takes more than half of the pairs, as many are as half of the pairs allow.
/// make() gives a function of its own to each task. What is tried depends on the seed and not on
/// the pool. progress(pairs so far) comes from the calling thread.
CounterExamples find_counter_examples(const Schema& schema,
                                      const std::function<RowFunction()>& make, std::size_t pairs,
                                      Random random, ThreadPool& pool,
                                      const std::function<void(std::size_t)>& progress = {},
                                      const std::vector<int>& directions = {},
                                      const TreeThresholds& thresholds = {});

}  // namespace espalier
