// SPDX-License-Identifier: Apache-2.0
#include "boost/tree_grower.h"

#include <algorithm>
#include <utility>

#include "constraints/orders.h"

namespace espalier {

namespace {

constexpr std::size_t kBinsOfATask = 1024;  // that are searched, at least
constexpr std::size_t kValueRowsPerTask = 16384;

// A value at which the sum of the quantile losses of some rows is least. The gradient there is the
// weight of the rows below it, less the sum of the weights times the quantiles.
double quantile_of(std::vector<Residual> residuals) {
  double wanted = 0, below = 0;
  for (const Residual& own : residuals) wanted += static_cast<double>(own.weight) * own.quantile;
  std::ranges::sort(residuals, [](const Residual& a, const Residual& b) {
    return std::pair(a.value, a.weight) < std::pair(b.value, b.weight);
  });
  for (const Residual& own : residuals) {
    below += own.weight;
    if (below >= wanted) return own.value;
  }
  return residuals.empty() ? 0 : residuals.back().value;
}

}  // namespace

TreeGrower::TreeGrower(std::span<const ColumnBins> columns, const BinnedRows& bins,
                       ThreadPool& pool)
    : columns_(columns),
      bins_(bins),
      pool_(pool),
      blocks_(bins, pool),
      partition_(bins.num_rows(), pool),
      builder_(blocks_, pool) {}

Tree TreeGrower::grow(std::span<const GradientPair> gradients,
                      std::span<const std::size_t> candidates, const Growth& growth) {
  growth_ = growth;
  gradients_ = gradients;
  layout_ = HistogramLayout(candidates, columns_);
  histograms_.reset(layout_.num_bins());
  builder_.reset(layout_, gradients);
  partition_.reset();
  found_.resize(layout_.num_columns());
  leaves_.clear();
  nodes_.clear();
  const auto most = static_cast<std::size_t>(std::max(growth.leaves, 1));
  leaves_.reserve(most);
  plant();
  while (leaves_.size() < most) {
    const auto best =
        std::ranges::max_element(leaves_, {}, [](const Leaf& leaf) { return leaf.best.gain; });
    if (best->best.gain == 0) break;
    split_leaf(static_cast<std::size_t>(best - leaves_.begin()));
  }
  return finished();
}

// One leaf with all rows.
void TreeGrower::plant() {
  Leaf& root = leaves_.emplace_back();
  root.end = partition_.num_rows();
  if (growth_.leaves < 2 || layout_.num_columns() == 0) {
    for (const GradientPair& row : gradients_) root.total += row;
    return;
  }
  root.histogram = histograms_.take();
  const std::span<GradientSums> histogram = histograms_[root.histogram];
  builder_.build(partition_.rows(root.begin, root.end), histogram);
  for_columns([&](std::size_t c) { builder_.complete(c, histogram); });
  for (const GradientSums& bin : histogram.first(layout_.offsets[1])) root.total += bin;
  for_columns([&](std::size_t c) {
    found_[c][0] = best_split(columns_[layout_.columns[c]], histogram.data() + layout_.offsets[c],
                              root.total, growth_.score);
  });
  keep_best(root, 0);
}

// The leaf keeps the rows that go left; those that go right become a new leaf.
void TreeGrower::split_leaf(std::size_t index) {
  leaves_.emplace_back();
  Leaf &left = leaves_[index], &right = leaves_.back();
  TreeSplit split = split_of(left);
  const auto node = static_cast<std::int32_t>(nodes_.size());
  if (left.place.split >= 0)
    nodes_[static_cast<std::size_t>(left.place.split)].next[left.place.side] = node;
  right.begin =
      partition_.divide(left.begin, left.end, bins_.column(split.column), split.goes_right());
  right.end = std::exchange(left.end, right.begin);
  right.total = left.total - left.best.left;
  left.total = left.best.left;
  left.best = {};
  left.place = {node, 0};
  right.place = {node, 1};
  nodes_.push_back(
      {std::move(split),
       {~static_cast<std::int32_t>(index), ~static_cast<std::int32_t>(leaves_.size() - 1)}});
  if (leaves_.size() == static_cast<std::size_t>(growth_.leaves)) return;  // no further split
  if (right.size() <= left.size()) {
    find_splits(right, left);
  } else {
    right.histogram = left.histogram;
    find_splits(left, right);
  }
}

// Adds up the rows of the smaller leaf; the histogram of both, which the larger leaf has, less the
// smaller leaf's is the larger leaf's.
void TreeGrower::find_splits(Leaf& small, Leaf& large) {
  small.histogram = histograms_.take();
  const std::span<GradientSums> of_small = histograms_[small.histogram];
  const std::span<GradientSums> of_large = histograms_[large.histogram];
  builder_.build(partition_.rows(small.begin, small.end), of_small);
  for_columns([&](std::size_t c) {
    builder_.complete(c, of_small);
    const std::size_t begin = layout_.offsets[c], end = layout_.offsets[c + 1];
    for (std::size_t b = begin; b < end; ++b) of_large[b] -= of_small[b];
    const ColumnBins& column = columns_[layout_.columns[c]];
    found_[c] = {best_split(column, of_small.data() + begin, small.total, growth_.score),
                 best_split(column, of_large.data() + begin, large.total, growth_.score)};
  });
  keep_best(small, 0);
  keep_best(large, 1);
}

// Calls search(column) for each candidate column.
template <class Search>
void TreeGrower::for_columns(Search&& search) {
  const std::size_t columns = layout_.num_columns();
  const std::size_t tasks = std::clamp<std::size_t>(layout_.num_bins() / kBinsOfATask, 1, columns);
  pool_.run_ranges(columns, (columns + tasks - 1) / tasks, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) search(c);
  });
}

// Of equally good splits the one on the first column.
void TreeGrower::keep_best(Leaf& leaf, int side) {
  for (std::size_t c = 0; c < found_.size(); ++c) {
    if (found_[c][side].gain <= leaf.best.gain) continue;
    leaf.best = found_[c][side];
    leaf.best.column = c;
  }
  if (leaf.best.gain > 0) return;
  histograms_.give_back(leaf.histogram);
  leaf.histogram = kNone;
}

TreeSplit TreeGrower::split_of(const Leaf& leaf) {
  const SplitChoice& best = leaf.best;
  const std::size_t index = layout_.columns[best.column];
  const ColumnBins& column = columns_[index];
  const BinOrder order(column, histograms_[leaf.histogram].data() + layout_.offsets[best.column],
                       leaf.total, growth_.score);
  TreeSplit split{.column = index, .right = std::vector<std::uint8_t>(column.num_bins)};
  for (std::size_t k = best.cut; k < order.size; ++k) split.right[order.bins[k]] = 1;
  if (column.has_missing) split.right[0] = best.missing_right ? 1 : 0;
  return split;
}

// The tree in reading order.
Tree TreeGrower::finished() {
  Tree tree;
  std::vector<std::size_t> order;  // of the leaves
  struct Waiting {
    std::int32_t at;
    Place place;
  };
  std::vector<Waiting> waiting = {{nodes_.empty() ? ~0 : 0, {}}};
  while (!waiting.empty()) {
    const auto [at, place] = waiting.back();
    waiting.pop_back();
    const auto own = at < 0 ? ~static_cast<std::int32_t>(order.size())
                            : static_cast<std::int32_t>(tree.splits.size());
    if (place.split >= 0) tree.next[static_cast<std::size_t>(place.split)][place.side] = own;
    if (at < 0) {
      order.push_back(static_cast<std::size_t>(~at));
      continue;
    }
    Node& node = nodes_[static_cast<std::size_t>(at)];
    tree.splits.push_back(std::move(node.split));
    tree.next.emplace_back();
    for (const int side : {1, 0}) waiting.push_back({node.next[side], {own, side}});
  }
  leaf_begins_.clear();
  for (const std::size_t leaf : order) leaf_begins_.push_back(leaves_[leaf].begin);
  set_values(tree, order);
  return tree;
}

void TreeGrower::set_values(Tree& tree, std::span<const std::size_t> order) {
  tree.values.resize(order.size());
  const auto set_value = [&](std::size_t i) {
    tree.values[i] = static_cast<float>(growth_.rate * step_of(leaves_[order[i]]));
  };
  if (growth_.residuals.empty()) {
    for (std::size_t i = 0; i < order.size(); ++i) set_value(i);
  } else {
    pool_.run(static_cast<int>(order.size()),
              [&](int i) { set_value(static_cast<std::size_t>(i)); });
  }
  std::vector<double> denominators;
  for (const std::size_t leaf : order)
    denominators.push_back(growth_.score.denominator(leaves_[leaf].total));
  // ChainWeights are roots of what they are given.
  const double largest = std::ranges::max(denominators);
  std::vector<float> weights;
  for (const double own : denominators)
    weights.push_back(static_cast<float>((own / largest) * (own / largest)));
  project_orders(tree.values, leaf_orders(tree, columns_), {.variance = weights.data()});
}

// Where the loss of a leaf is least, shrunk to 0.
double TreeGrower::step_of(const Leaf& leaf) const {
  const LeafScore& score = growth_.score;
  if (growth_.residuals.empty()) {
    const double step = -score.gradient(leaf.total) / score.denominator(leaf.total);
    const double most = growth_.max_step;
    return most > 0 ? std::clamp(step, -most, most) : step;
  }
  std::vector<Residual> own;
  own.reserve(leaf.size());
  for (const std::uint32_t row : partition_.rows(leaf.begin, leaf.end))
    own.push_back(growth_.residuals[row]);
  return quantile_of(std::move(own)) * (1 - score.l2 / score.denominator(leaf.total));
}

// Leaves in reading order are in the order of their rows in the partition.
void TreeGrower::add_values(const Tree& tree, std::span<float> sums) const {
  pool_.run_ranges(sums.size(), kValueRowsPerTask, [&](std::size_t begin, std::size_t end) {
    const auto next = std::ranges::upper_bound(leaf_begins_, begin);
    for (auto leaf = static_cast<std::size_t>(next - leaf_begins_.begin()) - 1; begin < end;
         ++leaf) {
      const std::size_t until =
          leaf + 1 < leaf_begins_.size() ? std::min(leaf_begins_[leaf + 1], end) : end;
      const float value = tree.values[leaf];
      for (const std::uint32_t row : partition_.rows(begin, until)) sums[row] += value;
      begin = until;
    }
  });
}

}  // namespace espalier
