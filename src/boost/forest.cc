// SPDX-License-Identifier: Apache-2.0
#include "boost/forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "boost/row_losses.h"
#include "boost/tree_grower.h"
#include "espalier/error.h"
#include "layers/trees.h"

namespace espalier {

namespace {

constexpr std::size_t kLossRowsPerTask = 8192;
static_assert(kLossRowsPerTask % kLossBlock == 0 && kLossRowsPerTask <= kMaxRowsAtOnce);
constexpr std::size_t kCandidatesOfTen = 8;  // columns that a tree may split on
constexpr double kPatience = 5;              // trees without a lower loss, times their rate
constexpr double kL2 = 8;
// Of rows: the quantile of few is less certain than their mean.
constexpr double kL2OfQuantiles = 30;
// Each tree takes this share of its rate from the earlier trees that split on a monotone column. No
// tree may decrease along such a column, so that where earlier trees increased too far, they can
// only be forgotten.
constexpr double kForgotten = 0.02;
// Of the logarithm of an amount: where nearly all of it lies in few rows, Newton's step is the
// whole ratio and not its logarithm.
constexpr double kMaxLogStep = 4;

// The largest of some numbers becomes 2^29 to 2^30 units, so that 2^33 of them can be added.
double unit_for(float largest) {
  if (std::isnan(largest)) return largest;
  return largest > 0 ? std::ldexp(1.0, std::ilogb(largest) - 29) : 1.0;
}

class ForestGrower {
 public:
  explicit ForestGrower(const ForestInput& input)
      : in_(input),
        label_(input.objective->label()),
        columns_(columns_of(input)),
        train_bins_(columns_, *input.train, label_, *input.pool),
        valid_bins_(columns_, *input.valid, label_, *input.pool),
        grower_(columns_, train_bins_, *input.pool),
        train_losses_(*input.objective, *input.train),
        valid_losses_(*input.objective, *input.valid),
        train_(train_bins_.num_rows(), has_monotone_column()),
        valid_(valid_bins_.num_rows(), has_monotone_column()),
        gradients_((train_.size() + 7) / 8 * 8),
        hessians_(gradients_.size()),
        rounded_(train_.size()),
        residuals_(has_hessian(label_) ? 0 : train_.size()) {}

  Forest grow() {
    std::vector<Tree> trees;
    double least = valid_loss();
    std::size_t best = 0, parameters = 0, pairs = 0;
    while (trees.size() < static_cast<std::size_t>(in_.plan.trees) && !columns_.empty()) {
      const bool is_given = trees.size() < in_.start.size();
      if (!is_given && !in_.goes_on(trees)) break;
      Tree tree = is_given ? given_tree(trees.size()) : next_tree(in_.random.split(trees.size()));
      parameters += parameters_of(tree);
      if (fades(tree)) pairs += leaf_pairs(tree.values.size());
      if (tree.splits.empty() || parameters > kMaxForestParameters || pairs > kMaxLeafPairs) break;
      if (!is_given) grower_.add_values(tree, train_.of(fades(tree)));
      add_to_valid(tree);
      trees.push_back(std::move(tree));
      const double loss = valid_loss();
      if (valid_.empty() || loss < least) {
        least = loss;
        best = trees.size();
      } else if (static_cast<double>(trees.size() - best) * in_.plan.rate >= kPatience) {
        break;
      }
    }
    trees.resize(best);
    fade(trees);
    return {std::move(columns_), std::move(trees)};
  }

 private:
  static std::vector<ColumnBins> columns_of(const ForestInput& input) {
    const Label& label = input.objective->label();
    std::vector<ColumnBins> columns = fit_bins(input.wires, *input.train, *input.pool);
    if (label.num_levels() > 1) columns.push_back(bins_of_levels(label, input.level_wire));
    return columns;
  }

  bool fades(const Tree& tree) const {
    return std::ranges::any_of(
        tree.splits, [&](const TreeSplit& split) { return columns_[split.column].monotone; });
  }
  bool has_monotone_column() const { return std::ranges::any_of(columns_, &ColumnBins::monotone); }
  float kept() const { return static_cast<float>(1 - kForgotten * in_.plan.rate); }

  // As often as there are trees behind each.
  void fade(std::vector<Tree>& trees) const {
    float left = 1;
    for (auto tree = trees.rbegin(); tree != trees.rend(); ++tree) {
      if (fades(*tree)) {
        for (float& value : tree->values) value *= left;
      }
      left *= kept();
    }
  }

  // At most: leaves, and a table of answers for each split on a category.
  std::size_t parameters_of(const Tree& tree) const {
    std::size_t count = tree.values.size();
    for (const TreeSplit& split : tree.splits) count += columns_[split.column].of_code.size();
    return count;
  }

  // Splits on some of the columns, drawn anew, and on the level. A tree without splits where the
  // sums of the trees have left the finite numbers.
  Tree next_tree(Random random) {
    const bool has_level = columns_.back().is_level;
    std::vector<std::size_t> candidates(columns_.size() - (has_level ? 1 : 0));
    std::iota(candidates.begin(), candidates.end(), std::size_t{0});
    random.shuffle(std::span(candidates));
    candidates.resize((candidates.size() * kCandidatesOfTen + 9) / 10);
    std::ranges::sort(candidates);
    if (has_level) candidates.push_back(columns_.size() - 1);
    find_gradients();
    const Growth growth{.leaves = in_.plan.leaves,
                        .rate = in_.plan.rate,
                        .max_step = label_.has_log_link() ? kMaxLogStep : 0,
                        .score = round(),
                        .residuals = residuals_};
    const bool is_finite =
        std::isfinite(growth.score.gradient_unit) && std::isfinite(growth.score.hessian_unit);
    return is_finite ? grower_.grow(rounded_, candidates, growth) : Tree();
  }

  // One that an earlier call has grown. The rows get its values in the same way.
  Tree given_tree(std::size_t index) {
    const Tree& tree = in_.start[index];
    if (!fits(tree, columns_)) {
      throw Error(ErrorKind::format,
                  fmt::format("tree {} of the checkpoint does not fit the dataset", index + 1));
    }
    if (index == 0) {  // what is derived from the first gradients
      find_gradients();
      round();
    }
    const std::span<float> sums = train_.of(fades(tree));
    in_.pool->run_ranges(train_.size(), kLossRowsPerTask, [&](std::size_t begin, std::size_t end) {
      train_.fade(begin, end, kept());
      add_values(tree, train_bins_, begin, sums.subspan(begin, end - begin));
    });
    return tree;
  }

  // At the sums of the trees so far, which fade first.
  void find_gradients() {
    const std::size_t num_tasks = (train_.size() + kLossRowsPerTask - 1) / kLossRowsPerTask;
    largest_gradients_.resize(num_tasks);
    largest_hessians_.resize(num_tasks);
    in_.pool->run_ranges(train_.size(), kLossRowsPerTask, [&](std::size_t begin, std::size_t end) {
      float *const gradients = gradients_.data() + begin, *const hessians =
                                                              hessians_.data() + begin;
      train_.fade(begin, end, kept());
      train_losses_.gradients(train_, begin, end, gradients, hessians);
      if (!residuals_.empty())
        train_losses_.residuals(train_, begin, end, residuals_.data() + begin);
      const std::size_t task = begin / kLossRowsPerTask;
      largest_gradients_[task] = largest_magnitude({gradients, end - begin});
      largest_hessians_[task] = largest_magnitude({hessians, end - begin});
    });
  }

  // Gradients and hessians as integers, if their units are finite.
  LeafScore round() {
    LeafScore score{.gradient_unit = unit_for(largest_magnitude(largest_gradients_)),
                    .hessian_unit = unit_for(largest_magnitude(largest_hessians_))};
    if (!std::isfinite(score.gradient_unit) || !std::isfinite(score.hessian_unit)) return score;
    in_.pool->run_ranges(train_.size(), kLossRowsPerTask, [&](std::size_t begin, std::size_t end) {
      round_gradients(std::span(gradients_).subspan(begin, end - begin),
                      std::span(hessians_).subspan(begin, end - begin), score.gradient_unit,
                      score.hessian_unit, rounded_.data() + begin);
    });
    if (l2_ == 0) l2_ = find_l2();
    score.l2 = l2_;
    return score;
  }

  // What shrinks leaves to 0: the ratio of the noise of gradients to hessians, so that the units of
  // the loss do not matter, times the hessian of a leaf that one believes half.
  double find_l2() const {
    if (!residuals_.empty()) return kL2OfQuantiles;
    double squares = 0, hessian = 0;
    for (std::size_t r = 0; r < train_.size(); ++r) {
      const double weight = train_losses_.weight(r);
      if (weight > 0) squares += static_cast<double>(gradients_[r]) * gradients_[r] / weight;
      hessian += hessians_[r];
    }
    const double l2 = kL2 * squares / hessian;
    return std::isfinite(l2) && l2 > 0 ? l2 : 1.0;
  }

  // What has been added so far fades first.
  void add_to_valid(const Tree& tree) {
    const std::span<float> sums = valid_.of(fades(tree));
    in_.pool->run_ranges(valid_.size(), kLossRowsPerTask, [&](std::size_t begin, std::size_t end) {
      valid_.fade(begin, end, kept());
      add_values(tree, valid_bins_, begin, sums.subspan(begin, end - begin));
    });
  }

  double valid_loss() const {
    std::vector<double> losses((valid_.size() + kLossRowsPerTask - 1) / kLossRowsPerTask);
    in_.pool->run_ranges(valid_.size(), kLossRowsPerTask, [&](std::size_t begin, std::size_t end) {
      losses[begin / kLossRowsPerTask] = valid_losses_.loss(valid_, begin, end);
    });
    return std::accumulate(losses.begin(), losses.end(), 0.0);
  }

  const ForestInput& in_;
  const Label& label_;
  std::vector<ColumnBins> columns_;
  const BinnedRows train_bins_;
  const BinnedRows valid_bins_;
  TreeGrower grower_;
  const RowLosses train_losses_;
  const RowLosses valid_losses_;
  TreeSums train_;
  TreeSums valid_;
  LargeVector<float> gradients_;  // with room for a multiple of 8 rows
  LargeVector<float> hessians_;
  LargeVector<GradientPair> rounded_;
  LargeVector<Residual> residuals_;       // where leaf values are quantiles
  std::vector<float> largest_gradients_;  // of each task
  std::vector<float> largest_hessians_;
  double l2_ = 0;
};

}  // namespace

Forest grow_forest(const ForestInput& input) { return ForestGrower(input).grow(); }

}  // namespace espalier
