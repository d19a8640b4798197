// SPDX-License-Identifier: Apache-2.0
#include "train/screen.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace espalier {

namespace {

constexpr double kShrinkage = 20;  // rows that pull a step to 0

struct Sums {
  double slope = 0;
  double curvature = 0;
};

// Halves of the rows, drawn once for all tables.
std::vector<std::uint8_t> draw_halves(std::size_t num_rows, Random random) {
  std::vector<std::uint64_t> order(num_rows);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  random.shuffle(std::span(order));
  std::vector<std::uint8_t> halves(num_rows);
  for (std::size_t i = 0; i < num_rows; i += 2) halves[order[i]] = 1;
  return halves;
}

class Screen {
 public:
  Screen(const ScreenRows& rows, Random random)
      : rows_(rows), halves_(draw_halves(rows.slopes.size(), random)) {
    const double total = std::accumulate(rows.curvatures.begin(), rows.curvatures.end(), 0.0);
    pull_ = kShrinkage * total / static_cast<double>(rows.curvatures.size());
  }

  // cell_of(row) < num_cells
  template <class CellOf>
  PairGain gain(std::size_t num_cells, const CellOf& cell_of) const {
    std::vector<Sums> sums[2] = {std::vector<Sums>(num_cells), std::vector<Sums>(num_cells)};
    const std::size_t num_rows = halves_.size();
    for (std::size_t r = 0; r < num_rows; ++r) {
      Sums& own = sums[halves_[r]][cell_of(r)];
      own.slope += rows_.slopes[r];
      own.curvature += rows_.curvatures[r];
    }
    for (std::vector<Sums>& half : sums) {
      for (Sums& own : half) own.slope = step_of(own);
    }
    double total = 0, squares = 0;
    for (std::size_t r = 0; r < num_rows; ++r) {
      const double step = sums[1 - halves_[r]][cell_of(r)].slope;
      const double own = -step * (rows_.slopes[r] + step * rows_.curvatures[r] / 2);
      total += own;
      squares += own * own;
    }
    const auto count = static_cast<double>(num_rows);
    const double mean = total / count;
    return {.gain = mean, .error = std::sqrt(std::max(0.0, squares / count - mean * mean) / count)};
  }

  PairGain gain_of(std::size_t column) const {
    const std::vector<std::uint16_t>& bins = rows_.bins[column];
    return gain(rows_.num_bins[column], [&](std::size_t r) { return bins[r]; });
  }

  PairGain gain_of(std::size_t first, std::size_t second) const {
    const std::vector<std::uint16_t>& a = rows_.bins[first];
    const std::vector<std::uint16_t>& b = rows_.bins[second];
    const std::size_t width = rows_.num_bins[second];
    PairGain own =
        gain(rows_.num_bins[first] * width, [&](std::size_t r) { return a[r] * width + b[r]; });
    own.first = first;
    own.second = second;
    return own;
  }

 private:
  double step_of(const Sums& sums) const {
    const double room = sums.curvature + pull_;
    return room > 0 ? -sums.slope / room : 0;
  }

  const ScreenRows& rows_;
  const std::vector<std::uint8_t> halves_;
  double pull_ = 0;
};

}  // namespace

std::vector<double> screen_columns(const ScreenRows& rows, Random random, ThreadPool& pool) {
  const Screen screen(rows, random);
  std::vector<double> gains(rows.bins.size());
  pool.run(static_cast<int>(gains.size()), [&](int column) {
    const auto c = static_cast<std::size_t>(column);
    gains[c] = screen.gain_of(c).gain;
  });
  return gains;
}

std::vector<PairGain> screen_pairs(const ScreenRows& rows, Random random, ThreadPool& pool) {
  const Screen screen(rows, random);
  const std::vector<double> alone = screen_columns(rows, random, pool);
  std::vector<PairGain> pairs;
  for (std::size_t a = 0; a < rows.bins.size(); ++a) {
    for (std::size_t b = a + 1; b < rows.bins.size(); ++b) pairs.push_back({a, b});
  }
  pool.run(static_cast<int>(pairs.size()), [&](int p) {
    PairGain& pair = pairs[static_cast<std::size_t>(p)];
    pair = screen.gain_of(pair.first, pair.second);
    pair.gain -= std::max(0.0, alone[pair.first]) + std::max(0.0, alone[pair.second]);
  });
  std::ranges::stable_sort(pairs, std::ranges::greater(), &PairGain::gain);
  return pairs;
}

}  // namespace espalier
