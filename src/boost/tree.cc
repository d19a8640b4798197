// SPDX-License-Identifier: Apache-2.0
#include "boost/tree.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "constraints/grid.h"
#include "constraints/lattice_shape.h"

namespace espalier {

namespace {

constexpr std::size_t kRowsOfATask = 16384;
// Draws the order of rare words to the middle, in units of the pull.
constexpr double kPullOfWords = 3;
// Of a leaf without rows in the projection, in units of the pull: it follows its neighbours.
constexpr double kWeightOfNoRows = 1e-4;

}  // namespace

// The best question about a column.
struct TreeGrower::Found {
  double gain = 0;
  TreeSplit split;
};

TreeGrower::TreeGrower(std::span<const ColumnBins> columns, const BinnedRows& bins,
                       ThreadPool& pool)
    : columns_(columns), bins_(bins), pool_(pool) {}

Tree TreeGrower::grow(std::span<const Newton> newton, std::span<const std::size_t> asked,
                      const Growth& growth) {
  growth_ = growth;
  rows_.resize(newton.size());
  right_.resize(newton.size());
  for (std::size_t r = 0; r < newton.size(); ++r)
    rows_[r] = {static_cast<std::uint32_t>(r), newton[r]};
  leaves_ = {{0, newton.size()}};
  histograms_.assign(asked.size(), {});
  Tree tree;
  while (static_cast<int>(tree.splits.size()) < growth_.depth) {
    TreeSplit split = best_split(asked);
    if (split.right.empty()) break;
    divide(split);
    tree.splits.push_back(std::move(split));
  }
  tree.leaves = leaf_values(tree.splits);
  return tree;
}

double TreeGrower::slope(const Sums& sums) const {
  return static_cast<double>(sums.slope) * growth_.slope_unit;
}

double TreeGrower::room(const Sums& sums) const {
  return static_cast<double>(sums.curvature) * growth_.curvature_unit + growth_.pull;
}

// Twice what a leaf lowers the loss by.
double TreeGrower::gain(const Sums& sums) const { return slope(sums) * slope(sums) / room(sums); }

// Of two leaves that must not fall from left to right: both are one if they would.
double TreeGrower::gain_of(const Sums& left, const Sums& right, bool rises) const {
  const bool falls = rises && slope(left) * room(right) < slope(right) * room(left);
  if (!falls) return gain(left) + gain(right);
  Sums both = left;
  return gain(both += right);
}

TreeSplit TreeGrower::best_split(std::span<const std::size_t> asked) {
  std::vector<Found> found(asked.size());
  pool_.run(static_cast<int>(asked.size()), [&](int index) {
    const auto i = static_cast<std::size_t>(index);
    histograms_[i] = next_histogram(asked[i], std::move(histograms_[i]));
    found[i] = best_of_column(asked[i], histograms_[i]);
  });
  const auto best = std::ranges::max_element(found, {}, &Found::gain);
  return best == found.end() ? TreeSplit() : std::move(best->split);
}

// Of the leaves of this level, from those of the level before: the rows of the smaller half of each
// leaf are counted, the other half is what they leave.
std::vector<TreeGrower::Sums> TreeGrower::next_histogram(std::size_t column,
                                                         std::vector<Sums> before) const {
  const std::size_t num_bins = columns_[column].num_bins;
  const std::uint8_t* const bin_of = bins_.column(column);
  std::vector<Sums> sums = std::move(before);
  sums.resize(leaves_.size() * num_bins);
  const auto count = [&](const Leaf& leaf, Sums* own) {
    for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
      const OwnRow& row = rows_[i];
      own[bin_of[row.row]] += {row.newton.slope, row.newton.curvature};
    }
  };
  if (leaves_.size() == 1) {
    count(leaves_[0], sums.data());
    return sums;
  }
  const std::size_t half = leaves_.size() / 2;
  for (std::size_t leaf = 0; leaf < half; ++leaf) {
    const Leaf &left = leaves_[leaf], &right = leaves_[leaf + half];
    Sums* const of_left = sums.data() + leaf * num_bins;  // of both, so far
    Sums* const of_right = sums.data() + (leaf + half) * num_bins;
    const bool right_is_smaller = right.size() <= left.size();
    count(right_is_smaller ? right : left, of_right);
    for (std::size_t bin = 0; bin < num_bins; ++bin) of_left[bin] -= of_right[bin];
    if (!right_is_smaller) std::swap_ranges(of_left, of_left + num_bins, of_right);
  }
  return sums;
}

// The bins in the order in which a question may cut them, without that of missing cells.
std::vector<std::size_t> TreeGrower::order_of(const ColumnBins& column,
                                              const std::vector<Sums>& sums) const {
  std::vector<std::size_t> order(column.num_bins - column.first_value());
  std::iota(order.begin(), order.end(), column.first_value());
  if (!column.is_category) return order;
  std::vector<double> means(column.num_bins);
  for (std::size_t bin = 0; bin < column.num_bins; ++bin) {
    Sums all;
    for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf)
      all += sums[leaf * column.num_bins + bin];
    means[bin] = -slope(all) / (room(all) + kPullOfWords * growth_.pull);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t bin) { return means[bin]; });
  return order;
}

TreeGrower::Found TreeGrower::best_of_column(std::size_t index,
                                             const std::vector<Sums>& sums) const {
  const ColumnBins& column = columns_[index];
  const std::vector<std::size_t> order = order_of(column, sums);
  // gains[m][k]: the first k bins of the order lie left, and missing cells do unless m is 1.
  std::vector<double> gains[2];
  for (std::vector<double>& own : gains) own.assign(order.size(), 0);
  for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
    if (leaves_[leaf].size() == 0) continue;
    const Sums* const own = sums.data() + leaf * column.num_bins;
    Sums all;
    for (std::size_t bin = 0; bin < column.num_bins; ++bin) all += own[bin];
    const double before = gain(all);
    for (std::size_t m = 0; m <= column.first_value(); ++m) {
      Sums left = column.has_missing && m == 0 ? own[0] : Sums();
      double gained = gain_of(left, all - left, column.monotone) - before;
      for (std::size_t k = 0; k < order.size(); ++k) {
        gains[m][k] += gained;
        if (own[order[k]].is_zero()) continue;  // of deep leaves most are
        left += own[order[k]];
        gained = gain_of(left, all - left, column.monotone) - before;
      }
    }
  }
  Found best;
  for (std::size_t m = 0; m <= column.first_value(); ++m) {
    const std::size_t fewest = m == 0 && column.has_missing ? 0 : 1;  // something must lie left
    for (std::size_t k = fewest; k < order.size(); ++k) {
      if (gains[m][k] <= best.gain) continue;
      best.gain = gains[m][k];
      best.split = split_of(index, order, k, m == 1);
    }
  }
  return best;
}

TreeSplit TreeGrower::split_of(std::size_t index, const std::vector<std::size_t>& order,
                               std::size_t left, bool missing_right) const {
  const ColumnBins& column = columns_[index];
  TreeSplit split{.column = index, .right = std::vector<std::uint8_t>(column.num_bins)};
  for (std::size_t k = left; k < order.size(); ++k) split.right[order[k]] = 1;
  if (column.has_missing) split.right[0] = missing_right ? 1 : 0;
  return split;
}

// Leaf l keeps the rows that answer 0; those that answer 1 become leaf l + the number of leaves.
void TreeGrower::divide(const TreeSplit& split) {
  const std::size_t count = leaves_.size();
  const std::uint8_t* const bin_of = bins_.column(split.column);
  leaves_.resize(2 * count);
  pool_.run(static_cast<int>(count), [&](int index) {
    const auto leaf = static_cast<std::size_t>(index);
    const auto [begin, end] = leaves_[leaf];
    std::size_t left = begin, right = begin;
    for (std::size_t i = begin; i < end; ++i) {
      const bool is_right = split.right[bin_of[rows_[i].row]] != 0;
      (is_right ? right_[right++] : rows_[left++]) = rows_[i];
    }
    std::copy(right_.begin() + static_cast<std::ptrdiff_t>(begin),
              right_.begin() + static_cast<std::ptrdiff_t>(right),
              rows_.begin() + static_cast<std::ptrdiff_t>(left));
    leaves_[leaf] = {begin, left};
    leaves_[leaf + count] = {left, end};
  });
}

std::vector<float> TreeGrower::leaf_values(const std::vector<TreeSplit>& splits) const {
  std::vector<float> values, weights;
  for (const Leaf& leaf : leaves_) {
    Sums sums;
    for (std::size_t i = leaf.begin; i < leaf.end; ++i)
      sums += {rows_[i].newton.slope, rows_[i].newton.curvature};
    double step = -slope(sums) / room(sums);
    if (growth_.longest_step > 0)
      step = std::clamp(step, -growth_.longest_step, growth_.longest_step);
    values.push_back(static_cast<float>(growth_.rate * step));
    const double weight = leaf.size() == 0 ? kWeightOfNoRows * room(sums) : room(sums);
    weights.push_back(static_cast<float>(weight * weight));
  }
  const LatticeShape cube = LatticeShape::cube(static_cast<int>(splits.size()));
  std::vector<Rise> rises;
  for (std::size_t d = 0; d < splits.size(); ++d) {
    if (columns_[splits[d].column].monotone) rises.push_back(cube.rise(static_cast<int>(d)));
  }
  // ChainWeights are roots of what they are given.
  if (!rises.empty()) project_grid(values, rises, {.variance = weights.data()});
  return values;
}

void add_leaves(const Tree& tree, const BinnedRows& bins, std::span<float> sums, ThreadPool& pool) {
  pool.run_ranges(sums.size(), kRowsOfATask, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint32_t> leaves(end - begin);
    for (std::size_t d = 0; d < tree.splits.size(); ++d) {
      const TreeSplit& split = tree.splits[d];
      const std::uint8_t* const bin_of = bins.column(split.column);
      for (std::size_t r = begin; r < end; ++r)
        leaves[r - begin] |= static_cast<std::uint32_t>(split.right[bin_of[r]]) << d;
    }
    for (std::size_t r = begin; r < end; ++r) sums[r] += tree.leaves[leaves[r - begin]];
  });
}

}  // namespace espalier
