// SPDX-License-Identifier: Apache-2.0
#include "boost/forest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "layers/trees.h"

namespace espalier {

namespace {

constexpr std::size_t kRowsOfATask = 8192;
constexpr std::size_t kAskedOfTen = 8;  // columns that a tree may ask for
constexpr double kPatience = 5;         // trees without a lower loss, times their rate
constexpr double kPull = 8;
// Of rows: the quantile of few is less certain than their mean.
constexpr double kPullOfQuantiles = 30;
// Each tree takes this share of its rate from the trees before it that ask for a monotone column.
// No tree may fall along such a column, so that what earlier ones rose too far can only be
// forgotten.
constexpr double kForgotten = 0.02;
// Of the logarithm of an amount: where nearly all of it lies in few rows, Newton's step is the
// whole ratio and not its logarithm.
constexpr double kLongestLogStep = 4;

// To the larger one; a NaN stays.
void raise(float& most, float value) {
  if (!std::isnan(most) && !(value <= most)) most = value;
}

// Of the tasks, none of which is below 0.
float largest_of(const std::vector<float>& values) {
  float most = 0;
  for (const float value : values) raise(most, value);
  return most;
}

// The largest of some numbers becomes 2^29 to 2^30 units, so that 2^33 of them can be added.
double unit_for(float largest) {
  if (std::isnan(largest)) return largest;
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
    add_values(tree, bins, fades ? fading_ : steady_, pool);
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
        label_(input.objective->label()),
        columns_(columns_of(input)),
        train_bins_(columns_, *input.train, label_, *input.pool),
        valid_bins_(columns_, *input.valid, label_, *input.pool),
        grower_(columns_, train_bins_, *input.pool),
        train_(train_bins_.num_rows(), asks_monotone_column()),
        valid_(valid_bins_.num_rows(), asks_monotone_column()),
        slopes_(train_.size()),
        curvatures_(train_.size()),
        newton_(train_.size()),
        lacks_(has_curvature(label_) ? 0 : train_.size()) {}

  Forest grow() {
    std::vector<Tree> trees;
    double least = valid_loss();
    std::size_t best = 0, parameters = 0, pairs = 0;
    while (trees.size() < static_cast<std::size_t>(in_.plan.trees) && !columns_.empty()) {
      if (!in_.goes_on(static_cast<int>(trees.size()))) break;
      train_.fade(kept(), *in_.pool);
      valid_.fade(kept(), *in_.pool);
      Tree tree = next_tree(in_.random.split(trees.size()));
      parameters += parameters_of(tree);
      if (fades(tree)) pairs += leaf_pairs(tree.values.size());
      if (tree.splits.empty() || parameters > kMostParameters || pairs > kMaxLeafPairs) break;
      train_.add(tree, fades(tree), train_bins_, *in_.pool);
      valid_.add(tree, fades(tree), valid_bins_, *in_.pool);
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

  // A row at a level.
  LossRow row_of(const Dataset& data, std::size_t index) const {
    return loss_row(data, index / label_.num_levels(), index % label_.num_levels());
  }
  float weight_of(const Dataset& data, std::size_t index) const {
    return data.weight(index / label_.num_levels());
  }

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
        for (float& value : tree->values) value *= left;
      }
      left *= kept();
    }
  }

  // At most: leaves, and a table of answers for each question about words.
  std::size_t parameters_of(const Tree& tree) const {
    std::size_t count = tree.values.size();
    for (const TreeSplit& split : tree.splits) count += columns_[split.column].of_code.size();
    return count;
  }

  // Asks for some of the columns, drawn anew, and for the level.
  Tree next_tree(Random random) {
    const bool has_level = columns_.back().is_level;
    std::vector<std::size_t> asked(columns_.size() - (has_level ? 1 : 0));
    std::iota(asked.begin(), asked.end(), std::size_t{0});
    random.shuffle(std::span(asked));
    asked.resize((asked.size() * kAskedOfTen + 9) / 10);
    std::ranges::sort(asked);
    if (has_level) asked.push_back(columns_.size() - 1);
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
        const LossRow row = row_of(*in_.train, r);
        const LossValue value = row_loss(*in_.objective, train_[r], row);
        const float weight = weight_of(*in_.train, r);
        slopes_[r] = weight * value.gradient;
        curvatures_[r] = weight * (lacks_.empty() ? value.curvature : 1);
        if (!lacks_.empty()) lacks_[r] = lack_of(train_[r], row, weight);
        raise(slope, std::abs(slopes_[r]));
        raise(curvature, curvatures_[r]);
      }
    });
    Growth growth{.leaves = in_.plan.leaves,
                  .rate = in_.plan.rate,
                  .longest_step = in_.objective->label().has_log_link() ? kLongestLogStep : 0,
                  .slope_unit = unit_for(largest_of(steepest)),
                  .curvature_unit = unit_for(largest_of(most_bent)),
                  .lacks = lacks_};
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

  // In units of the output, as row_loss has it.
  Lack lack_of(float z, const LossRow& row, float weight) const {
    const double wanted = (row.y - label_.offsets[row.level] - row.offset) / label_.scale;
    const double share = label_.loss == Loss::quantile ? label_.quantiles[row.level] : 0.5;
    return {static_cast<float>(wanted - z), static_cast<float>(share), weight};
  }

  // What draws leaves to 0: the ratio of the noise of slopes to curvature, so that the units of the
  // loss do not matter, times the curvature of a leaf that one believes half.
  double find_pull() const {
    if (!lacks_.empty()) return kPullOfQuantiles;
    double squares = 0, curvature = 0;
    for (std::size_t r = 0; r < train_.size(); ++r) {
      const double weight = weight_of(*in_.train, r);
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
        sum += weight_of(data, r) * row_loss(*in_.objective, valid_[r], row_of(data, r)).loss;
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

  const ForestInput& in_;
  const Label& label_;
  std::vector<ColumnBins> columns_;
  const BinnedRows train_bins_;
  const BinnedRows valid_bins_;
  TreeGrower grower_;
  TreeSums train_;
  TreeSums valid_;
  LargeVector<float> slopes_;
  LargeVector<float> curvatures_;
  LargeVector<Newton> newton_;
  LargeVector<Lack> lacks_;  // where leaves are quantiles
  double pull_ = 0;
};

}  // namespace

Forest grow_forest(const ForestInput& input) { return Grove(input).grow(); }

}  // namespace espalier
