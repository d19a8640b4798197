// SPDX-License-Identifier: Apache-2.0
// Which pairs of columns explain what a network leaves unexplained: a table of a step per cell,
// fitted on one half of the rows and scored on the other, both ways round.
//
//   step of a cell = -G / (H + 20 mean h)       G, H: sums of slope and curvature of the loss
//   gain           = -(step G' + step^2 H' / 2)  G', H' of the other half
//
// summed over the cells, per row, less the gain of each column alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/random.h"
#include "core/thread_pool.h"

namespace espalier {

/// Rows as the screen sees them: the slope and curvature of the loss with respect to the output of
/// the network that does not know the pairs, and the bin of each column.
struct ScreenRows {
  std::vector<float> slopes;
  std::vector<float> curvatures;
  std::vector<std::vector<std::uint16_t>> bins;  // [column][row]
  std::vector<std::size_t> num_bins;             // of each column
};

struct PairGain {
  std::size_t first = 0;  // of the columns
  std::size_t second = 0;
  double gain = 0;   // of the loss, a row
  double error = 0;  // its standard deviation
};

/// All pairs of columns, the largest gain first. The result does not depend on the number of
/// threads.
std::vector<PairGain> screen_pairs(const ScreenRows& rows, Random random, ThreadPool& pool);

/// The gain of each column alone.
std::vector<double> screen_columns(const ScreenRows& rows, Random random, ThreadPool& pool);

}  // namespace espalier
