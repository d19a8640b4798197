// SPDX-License-Identifier: Apache-2.0
#include "boost/tree.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "constraints/orders.h"
#include "layers/trees.h"

namespace espalier {

namespace {

constexpr std::size_t kRowsOfATask = 16384;
// Draws the order of rare words to that of their leaf, in units of the pull.
constexpr double kPullOfWords = 3;

// A value v of some rows at which the sum of their quantile losses is least. The slope at v is
// the weight of the rows below it, less what the shares of all want there.
double quantile_of(std::vector<Lack> lacks) {
  double wanted = 0, below = 0;
  for (const Lack& lack : lacks) wanted += static_cast<double>(lack.weight) * lack.share;
  std::ranges::sort(lacks, [](const Lack& a, const Lack& b) {
    return std::pair(a.value, a.weight) < std::pair(b.value, b.weight);
  });
  for (const Lack& lack : lacks) {
    below += lack.weight;
    if (below >= wanted) return lack.value;
  }
  return lacks.empty() ? 0 : lacks.back().value;
}

}  // namespace

std::size_t Tree::leaf(const BinnedRows& bins, std::size_t row) const {
  std::int32_t at = splits.empty() ? ~0 : 0;
  while (at >= 0) {
    const auto split = static_cast<std::size_t>(at);
    at = next[split][splits[split].right[bins.column(splits[split].column)[row]]];
  }
  return static_cast<std::size_t>(~at);
}

std::vector<TreeNode> nodes_of(const Tree& tree,
                               const std::function<TreeNode(const TreeSplit&)>& node_of) {
  std::vector<TreeNode> nodes;
  std::vector<std::int32_t> waiting = {tree.splits.empty() ? ~0 : 0};
  while (!waiting.empty()) {
    const std::int32_t at = waiting.back();
    waiting.pop_back();
    if (at < 0) {
      nodes.emplace_back();
      continue;
    }
    const auto split = static_cast<std::size_t>(at);
    nodes.push_back(node_of(tree.splits[split]));
    for (const int answer : {1, 0}) waiting.push_back(tree.next[split][answer]);
  }
  return nodes;
}

// The places at which a column of numbers is cut lie on one wire, but for the question whether
// there is a number at all: as network_of has it.
std::vector<Order> leaf_orders(const Tree& tree, std::span<const ColumnBins> columns) {
  using Reading = std::pair<std::size_t, std::vector<std::uint8_t>>;
  std::map<Reading, int> wires;
  std::vector<bool> is_monotone;
  const std::vector<TreeNode> nodes = nodes_of(tree, [&](const TreeSplit& split) {
    const ColumnBins& column = columns[split.column];
    Reading reading = {split.column, {}};
    float above = 0.5;
    if (column.is_category) {
      reading.second = split.right;
    } else {
      const auto left =
          std::count(split.right.begin() + static_cast<std::ptrdiff_t>(column.first_value()),
                     split.right.end(), 0);
      if (column.has_missing)
        reading.second = {split.right[0], static_cast<std::uint8_t>(left == 0)};
      above += static_cast<float>(left);
    }
    const auto [at, is_new] = wires.emplace(std::move(reading), static_cast<int>(wires.size()));
    if (is_new) is_monotone.push_back(column.monotone);
    return TreeNode{at->second, above};
  });
  return leaf_orders(nodes, [&](int wire) { return is_monotone[static_cast<std::size_t>(wire)]; });
}

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
  questions_.clear();
  plant(asked);
  while (static_cast<int>(leaves_.size()) < growth_.leaves) {
    const auto best =
        std::ranges::max_element(leaves_, {}, [](const Leaf& leaf) { return leaf.best.gain; });
    if (best->best.gain == 0) break;
    ask(static_cast<std::size_t>(best - leaves_.begin()), asked);
  }
  return finished();
}

double TreeGrower::slope(const Sums& sums) const {
  return static_cast<double>(sums.slope) * growth_.slope_unit;
}

double TreeGrower::room(const Sums& sums) const {
  return static_cast<double>(sums.curvature) * growth_.curvature_unit + growth_.pull;
}

// Twice what a leaf lowers the loss by.
double TreeGrower::gain(const Sums& sums) const { return slope(sums) * slope(sums) / room(sums); }

// What dividing a leaf adds to that. Sides that would fall and must not are not divided.
double TreeGrower::gain_of(const Sums& left, const Sums& right, bool rises) const {
  if (rises && slope(left) * room(right) < slope(right) * room(left)) return 0;
  Sums both = left;
  both += right;
  return std::max(0.0, gain(left) + gain(right) - gain(both));
}

// One leaf with all rows.
void TreeGrower::plant(std::span<const std::size_t> asked) {
  leaves_.clear();
  Leaf& root = leaves_.emplace_back();
  root.end = rows_.size();
  root.histograms.resize(asked.size());
  std::vector<Found> found(asked.size());
  pool_.run(static_cast<int>(asked.size()), [&](int index) {
    const auto i = static_cast<std::size_t>(index);
    root.histograms[i] = histogram_of(asked[i], root);
    found[i] = best_of_column(asked[i], root.histograms[i]);
  });
  for (Found& own : found) {
    if (own.gain > root.best.gain) root.best = std::move(own);
  }
}

// Asks the best question of a leaf, which keeps the rows that answer 0; those that answer 1 become
// a new leaf. The rows of the smaller one are counted, the other's histograms are what they leave.
void TreeGrower::ask(std::size_t leaf, std::span<const std::size_t> asked) {
  leaves_.emplace_back();
  Leaf &left = leaves_[leaf], &right = leaves_.back();
  const auto question = static_cast<std::int32_t>(questions_.size());
  if (left.place.question >= 0)
    questions_[static_cast<std::size_t>(left.place.question)].next[left.place.answer] = question;
  const std::size_t middle = divide(left);
  right.begin = middle;
  right.end = std::exchange(left.end, middle);
  left.place = {question, 0};
  right.place = {question, 1};
  questions_.push_back(
      {std::exchange(left.best, {}).split,
       {~static_cast<std::int32_t>(leaf), ~static_cast<std::int32_t>(leaves_.size() - 1)}});
  right.histograms.resize(asked.size());
  std::vector<std::array<Found, 2>> found(asked.size());
  pool_.run(static_cast<int>(asked.size()), [&](int index) {
    const auto i = static_cast<std::size_t>(index);
    Histogram &of_left = left.histograms[i], &of_right = right.histograms[i];  // the former of both
    const bool right_is_smaller = right.size() <= left.size();
    of_right = histogram_of(asked[i], right_is_smaller ? right : left);
    for (std::size_t bin = 0; bin < of_left.size(); ++bin)
      of_left[bin] = of_left[bin] - of_right[bin];
    if (!right_is_smaller) std::swap(of_left, of_right);
    found[i] = {best_of_column(asked[i], of_left), best_of_column(asked[i], of_right)};
  });
  for (auto& [of_left, of_right] : found) {
    if (of_left.gain > left.best.gain) left.best = std::move(of_left);
    if (of_right.gain > right.best.gain) right.best = std::move(of_right);
  }
  for (Leaf* own : {&left, &right}) {
    if (own->best.gain == 0) own->histograms = {};
  }
}

// Moves the rows of a leaf that answer 1 behind the others; returns where they begin.
std::size_t TreeGrower::divide(const Leaf& leaf) {
  const TreeSplit& split = leaf.best.split;
  const std::uint8_t* const bin_of = bins_.column(split.column);
  std::size_t left = leaf.begin, right = leaf.begin;
  for (std::size_t k = leaf.begin; k < leaf.end; ++k) {
    const bool is_right = split.right[bin_of[rows_[k].row]] != 0;
    (is_right ? right_[right++] : rows_[left++]) = rows_[k];
  }
  std::copy(right_.begin() + static_cast<std::ptrdiff_t>(leaf.begin),
            right_.begin() + static_cast<std::ptrdiff_t>(right),
            rows_.begin() + static_cast<std::ptrdiff_t>(left));
  return left;
}

TreeGrower::Histogram TreeGrower::histogram_of(std::size_t column, const Leaf& leaf) const {
  Histogram sums(columns_[column].num_bins);
  const std::uint8_t* const bin_of = bins_.column(column);
  for (std::size_t i = leaf.begin; i < leaf.end; ++i) {
    const OwnRow& row = rows_[i];
    sums[bin_of[row.row]] += {row.newton.slope, row.newton.curvature};
  }
  return sums;
}

// The bins in the order in which a question may cut them, without that of missing cells.
std::vector<std::size_t> TreeGrower::order_of(const ColumnBins& column,
                                              const Histogram& sums) const {
  std::vector<std::size_t> order(column.num_bins - column.first_value());
  std::iota(order.begin(), order.end(), column.first_value());
  if (!column.is_category) return order;
  Sums all;
  for (const Sums& own : sums) all += own;
  const double pull = kPullOfWords * growth_.pull, drawn_to = pull * slope(all) / room(all);
  std::vector<double> means;
  for (const Sums& own : sums) means.push_back(-(slope(own) + drawn_to) / (room(own) + pull));
  std::ranges::stable_sort(order, {}, [&](std::size_t bin) { return means[bin]; });
  return order;
}

TreeGrower::Found TreeGrower::best_of_column(std::size_t index, const Histogram& sums) const {
  const ColumnBins& column = columns_[index];
  const std::vector<std::size_t> order = order_of(column, sums);
  Sums all;
  for (const Sums& own : sums) all += own;
  // The first `cut` bins of the order lie left, and missing cells do unless `missing_right`.
  Found best;
  std::size_t cut = 0;
  bool missing_right = false;
  for (const bool missing : {false, true}) {
    if (missing && !column.has_missing) break;
    Sums left = column.has_missing && !missing ? sums[0] : Sums();
    for (std::size_t k = 0; k < order.size(); ++k) {
      const double gained = left.is_zero() ? 0 : gain_of(left, all - left, column.monotone);
      if (gained > best.gain) {
        best.gain = gained;
        cut = k;
        missing_right = missing;
      }
      left += sums[order[k]];
    }
  }
  if (best.gain > 0) best.split = split_of(index, order, cut, missing_right);
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

// Where the loss of a leaf is least, drawn to 0.
double TreeGrower::step_of(const Leaf& leaf, const Sums& sums) const {
  if (growth_.lacks.empty()) {
    const double step = -slope(sums) / room(sums), longest = growth_.longest_step;
    return longest > 0 ? std::clamp(step, -longest, longest) : step;
  }
  std::vector<Lack> own;
  own.reserve(leaf.size());
  for (std::size_t i = leaf.begin; i < leaf.end; ++i) own.push_back(growth_.lacks[rows_[i].row]);
  return quantile_of(std::move(own)) * (1 - growth_.pull / room(sums));
}

// The questions and leaves as one reads them.
Tree TreeGrower::finished() {
  Tree tree;
  std::vector<std::size_t> leaf_order;
  struct Waiting {
    std::int32_t at;
    Place place;
  };
  std::vector<Waiting> waiting = {{questions_.empty() ? ~0 : 0, {}}};
  while (!waiting.empty()) {
    const auto [at, place] = waiting.back();
    waiting.pop_back();
    const auto own = at < 0 ? ~static_cast<std::int32_t>(leaf_order.size())
                            : static_cast<std::int32_t>(tree.splits.size());
    if (place.question >= 0)
      tree.next[static_cast<std::size_t>(place.question)][place.answer] = own;
    if (at < 0) {
      leaf_order.push_back(static_cast<std::size_t>(~at));
      continue;
    }
    Question& question = questions_[static_cast<std::size_t>(at)];
    tree.splits.push_back(std::move(question.split));
    tree.next.emplace_back();
    for (const int answer : {1, 0}) waiting.push_back({question.next[answer], {own, answer}});
  }
  set_values(leaf_order, tree);
  return tree;
}

void TreeGrower::set_values(const std::vector<std::size_t>& leaf_order, Tree& tree) const {
  tree.values.resize(leaf_order.size());
  std::vector<double> rooms(leaf_order.size());
  pool_.run(static_cast<int>(leaf_order.size()), [&](int index) {
    const auto i = static_cast<std::size_t>(index);
    const Leaf& leaf = leaves_[leaf_order[i]];
    Sums sums;
    for (std::size_t k = leaf.begin; k < leaf.end; ++k)
      sums += {rows_[k].newton.slope, rows_[k].newton.curvature};
    tree.values[i] = static_cast<float>(growth_.rate * step_of(leaf, sums));
    rooms[i] = room(sums);
  });
  // ChainWeights are roots of what they are given.
  const double largest = std::ranges::max(rooms);
  std::vector<float> weights;
  for (const double own : rooms)
    weights.push_back(static_cast<float>((own / largest) * (own / largest)));
  project_orders(tree.values, leaf_orders(tree, columns_), {.variance = weights.data()});
}

void add_values(const Tree& tree, const BinnedRows& bins, std::span<float> sums, ThreadPool& pool) {
  pool.run_ranges(sums.size(), kRowsOfATask, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r) sums[r] += tree.values[tree.leaf(bins, r)];
  });
}

}  // namespace espalier
