// SPDX-License-Identifier: Apache-2.0
#include "boost/forest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace espalier {

namespace {

constexpr std::size_t kRowsOfATask = 8192;
constexpr std::size_t kAskedOfTen = 6;  // columns that a tree may ask for
constexpr std::size_t kPatience = 50;   // trees without a lower loss
constexpr double kPull = 6;
// Each tree takes this share of its rate from the trees before it that ask for a monotone column. No
// tree may fall along such a column, so that what earlier ones rose too far can only be forgotten.
constexpr double kForgotten = 0.01;
// Of the logarithm of an amount: where nearly all of it lies in few rows, Newton's step is the whole
// ratio and not its logarithm.
constexpr double kLongestLogStep = 4;
constexpr std::size_t kMostParameters = std::size_t{1} << 24;  // of a forest as a network

// The largest of some numbers becomes 2^29 to 2^30 units, so that 2^33 of them can be added.
double unit_for(float largest) {
  return largest > 0 ? std::ldexp(1.0, std::ilogb(largest) - 29) : 1.0;
}

// The sum of the trees so far for each row: of those that stay as they are, and of those that fade.
class TreeSums {
 public:
  TreeSums(std::size_t rows, bool some_fade) : steady_(rows), fading_(some_fade ? rows : 0) {}

  std::size_t size() const { return steady_.size(); }
  bool empty() const { return steady_.empty(); }
  float operator[](std::size_t row) const {
    return fading_.empty() ? steady_[row] : steady_[row] + fading_[row];
  }

  void add(const Tree& tree, bool fades, const BinnedRows& bins, ThreadPool& pool) {
    add_leaves(tree, bins, fades ? fading_ : steady_, pool);
  }
  void fade(float kept, ThreadPool& pool) {
    pool.run_ranges(fading_.size(), kRowsOfATask, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) fading_[r] *= kept;
    });
  }

 private:
  LargeVector<float> steady_;
  LargeVector<float> fading_;
};

class Grove {
 public:
  explicit Grove(const ForestInput& input)
      : in_(input),
        columns_(fit_bins(input.wires, *input.train, *input.pool)),
        train_bins_(columns_, *input.train, *input.pool),
        valid_bins_(columns_, *input.valid, *input.pool),
        grower_(columns_, train_bins_, *input.pool),
        train_(input.train->num_rows, asks_monotone_column()),
        valid_(input.valid->num_rows, asks_monotone_column()),
        slopes_(input.train->num_rows),
        curvatures_(input.train->num_rows),
        newton_(input.train->num_rows) {}

  Forest grow() {
    std::vector<Tree> trees;
    double least = valid_loss();
    std::size_t best = 0, parameters = 0;
    while (trees.size() < static_cast<std::size_t>(in_.plan.trees) && !columns_.empty()) {
      if (!in_.goes_on(static_cast<int>(trees.size()))) break;
      train_.fade(kept(), *in_.pool);
      valid_.fade(kept(), *in_.pool);
      Tree tree = next_tree(in_.random.split(trees.size()));
      parameters += parameters_of(tree);
      if (tree.splits.empty() || parameters > kMostParameters) break;
      train_.add(tree, fades(tree), train_bins_, *in_.pool);
      valid_.add(tree, fades(tree), valid_bins_, *in_.pool);
      trees.push_back(std::move(tree));
      const double loss = valid_loss();
      if (valid_.empty() || loss < least) {
        least = loss;
        best = trees.size();
      } else if (trees.size() - best >= kPatience) {
        break;
      }
    }
    trees.resize(best);
    fade(trees);
    return {std::move(columns_), std::move(trees)};
  }

 private:
  // Not where the sum of the trees has left the finite numbers: then there are no more.
  static bool is_finite(const Growth& growth) {
    return std::isfinite(growth.slope_unit) && std::isfinite(growth.curvature_unit);
  }

  bool fades(const Tree& tree) const {
    return std::ranges::any_of(
        tree.splits, [&](const TreeSplit& split) { return columns_[split.column].monotone; });
  }
  bool asks_monotone_column() const { return std::ranges::any_of(columns_, &ColumnBins::monotone); }
  float kept() const { return static_cast<float>(1 - kForgotten * in_.plan.rate); }

  // As often as there are trees behind each.
  void fade(std::vector<Tree>& trees) const {
    float left = 1;
    for (auto tree = trees.rbegin(); tree != trees.rend(); ++tree) {
      if (fades(*tree)) {
        for (float& leaf : tree->leaves) leaf *= left;
      }
      left *= kept();
    }
  }

  // At most: leaves, steps, and a table of answers for each question about words.
  std::size_t parameters_of(const Tree& tree) const {
    std::size_t count = std::size_t{1} << in_.plan.depth;
    for (const TreeSplit& split : tree.splits) count += 2 + columns_[split.column].of_code.size();
    return count;
  }

  // Asks for some of the columns, drawn anew.
  Tree next_tree(Random random) {
    std::vector<std::size_t> asked(columns_.size());
    std::iota(asked.begin(), asked.end(), std::size_t{0});
    random.shuffle(std::span(asked));
    asked.resize((asked.size() * kAskedOfTen + 9) / 10);
    std::ranges::sort(asked);
    const Growth growth = find_slopes();
    return is_finite(growth) ? grower_.grow(newton_, asked, growth) : Tree();
  }

  // Slopes and curvatures at the sum of the trees so far.
  Growth find_slopes() {
    const std::size_t num_tasks = (train_.size() + kRowsOfATask - 1) / kRowsOfATask;
    std::vector<float> steepest(num_tasks), most_bent(num_tasks);
    in_.pool->run_ranges(train_.size(), kRowsOfATask, [&](std::size_t begin, std::size_t end) {
      float& slope = steepest[begin / kRowsOfATask];
      float& curvature = most_bent[begin / kRowsOfATask];
      for (std::size_t r = begin; r < end; ++r) {
        const LossValue value = row_loss(*in_.objective, train_[r], loss_row(*in_.train, r));
        const float weight = in_.train->weight(r);
        slopes_[r] = weight * value.gradient;
        curvatures_[r] = weight * value.curvature;
        slope = std::max(slope, std::abs(slopes_[r]));
        curvature = std::max(curvature, curvatures_[r]);
      }
    });
    Growth growth{.depth = in_.plan.depth,
                  .rate = in_.plan.rate,
                  .longest_step = in_.objective->label().has_log_link() ? kLongestLogStep : 0,
                  .slope_unit = unit_for(std::ranges::max(steepest)),
                  .curvature_unit = unit_for(std::ranges::max(most_bent))};
    if (!is_finite(growth)) return growth;
    in_.pool->run_ranges(train_.size(), kRowsOfATask, [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        newton_[r] = {
            static_cast<std::int32_t>(std::lrint(slopes_[r] / growth.slope_unit)),
            static_cast<std::int32_t>(std::lrint(curvatures_[r] / growth.curvature_unit))};
      }
    });
    if (pull_ == 0) pull_ = find_pull();
    growth.pull = pull_;
    return growth;
  }

  // What draws leaves to 0: the ratio of the noise of slopes to curvature, so that the units of the
  // loss do not matter, times the curvature of a leaf that one believes half.
  double find_pull() const {
    double squares = 0, curvature = 0;
    for (std::size_t r = 0; r < train_.size(); ++r) {
      const double weight = in_.train->weight(r);
      if (weight > 0) squares += static_cast<double>(slopes_[r]) * slopes_[r] / weight;
      curvature += curvatures_[r];
    }
    const double pull = kPull * squares / curvature;
    return std::isfinite(pull) && pull > 0 ? pull : 1.0;
  }

  double valid_loss() const {
    const Dataset& data = *in_.valid;
    std::vector<double> sums((valid_.size() + kRowsOfATask - 1) / kRowsOfATask);
    in_.pool->run_ranges(valid_.size(), kRowsOfATask, [&](std::size_t begin, std::size_t end) {
      double& sum = sums[begin / kRowsOfATask];
      for (std::size_t r = begin; r < end; ++r)
        sum += data.weight(r) * row_loss(*in_.objective, valid_[r], loss_row(data, r)).loss;
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

  const ForestInput& in_;
  std::vector<ColumnBins> columns_;
  const BinnedRows train_bins_;
  const BinnedRows valid_bins_;
  TreeGrower grower_;
  TreeSums train_;
  TreeSums valid_;
  LargeVector<float> slopes_;
  LargeVector<float> curvatures_;
  LargeVector<Newton> newton_;
  double pull_ = 0;
};

}  // namespace

Forest grow_forest(const ForestInput& input) { return Grove(input).grow(); }

}  // namespace espalier
