// SPDX-License-Identifier: Apache-2.0
// Forests grown plainly, for tests: row by row, every histogram added up anew, every split tried,
// and no threads. grow_forest must give the same bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "boost/forest.h"
#include "boost/gradient_sums.h"
#include "constraints/orders.h"
#include "objective/loss.h"

namespace espalier {

class ReferenceForest {
 public:
  explicit ReferenceForest(const ForestInput& input)
      : in_(input),
        label_(input.objective->label()),
        columns_(fit_bins(in_.wires, *in_.train, *in_.pool)) {
    if (label_.num_levels() > 1) columns_.push_back(bins_of_levels(label_, in_.level_wire));
  }

  Forest grow() {
    Sums train(*in_.train, *this), valid(*in_.valid, *this);
    double least = loss_of(valid);
    std::size_t best = 0;
    while (trees_.size() < static_cast<std::size_t>(in_.plan.trees) && !columns_.empty()) {
      for (Sums* sums : {&train, &valid}) {
        for (float& own : sums->fading) own *= kept();
      }
      const Tree tree = next_tree(train);
      if (tree.splits.empty()) break;
      for (Sums* sums : {&train, &valid}) sums->add(tree, fades(tree));
      trees_.push_back(tree);
      const double loss = loss_of(valid);
      if (valid.rows == 0 || loss < least) {
        least = loss;
        best = trees_.size();
      } else if (static_cast<double>(trees_.size() - best) * in_.plan.rate >= 5) {
        break;
      }
    }
    trees_.resize(best);
    float left = 1;
    for (auto tree = trees_.rbegin(); tree != trees_.rend(); ++tree, left *= kept()) {
      for (float& value : tree->values) value *= fades(*tree) ? left : 1.0f;
    }
    return {columns_, trees_};
  }

 private:
  // The trees' sums for the rows of a dataset at all levels.
  struct Sums {
    Sums(const Dataset& of, const ReferenceForest& forest)
        : data(of),
          bins(forest.columns_, of, forest.label_, *forest.in_.pool),
          rows(bins.num_rows()),
          steady(rows),
          fading(rows) {}

    void add(const Tree& tree, bool fades) {
      for (std::size_t r = 0; r < rows; ++r)
        (fades ? fading : steady)[r] += tree.values[tree.leaf(bins, r)];
    }
    float operator[](std::size_t row) const { return steady[row] + fading[row]; }

    const Dataset& data;
    BinnedRows bins;
    std::size_t rows;
    std::vector<float> steady, fading;
  };
  struct Split {
    double gain = 0;
    TreeSplit split;
  };

  bool fades(const Tree& tree) const {
    return std::ranges::any_of(
        tree.splits, [&](const TreeSplit& split) { return columns_[split.column].monotone; });
  }
  float kept() const { return static_cast<float>(1 - 0.02 * in_.plan.rate); }
  LossRow row_of(const Dataset& data, std::size_t index) const {
    return loss_row(data, index / label_.num_levels(), index % label_.num_levels());
  }
  float weight_of(const Dataset& data, std::size_t index) const {
    return data.weight(index / label_.num_levels());
  }
  double loss_of(const Sums& sums) const {
    double total = 0;  // tasks of 8192 rows are added up one after another
    for (std::size_t begin = 0; begin < sums.rows; begin += 8192) {
      double own = 0;
      for (std::size_t r = begin; r < std::min(begin + 8192, sums.rows); ++r)
        own +=
            weight_of(sums.data, r) * row_loss(*in_.objective, sums[r], row_of(sums.data, r)).loss;
      total += own;
    }
    return total;
  }

  Tree next_tree(const Sums& sums) {
    Random random = in_.random;
    random = random.split(trees_.size());
    const bool has_level = columns_.back().is_level;
    candidates_.resize(columns_.size() - (has_level ? 1 : 0));
    std::iota(candidates_.begin(), candidates_.end(), std::size_t{0});
    random.shuffle(std::span(candidates_));
    candidates_.resize((candidates_.size() * 8 + 9) / 10);
    std::ranges::sort(candidates_);
    if (has_level) candidates_.push_back(columns_.size() - 1);
    return find_gradients(sums) ? tree_of(sums) : Tree();
  }

  bool find_gradients(const Sums& sums) {
    std::vector<float> gradients, hessians;
    for (std::size_t r = 0; r < sums.rows; ++r) {
      const LossValue value = row_loss(*in_.objective, sums[r], row_of(sums.data, r));
      const float weight = weight_of(sums.data, r);
      gradients.push_back(weight * value.gradient);
      hessians.push_back(weight * (has_hessian(label_) ? value.hessian : 1));
    }
    for (const auto& [values, unit] :
         {std::pair(&gradients, &gradient_unit_), std::pair(&hessians, &hessian_unit_)}) {
      float largest = 0;
      for (const float value : *values) {
        if (!std::isfinite(value)) return false;
        largest = std::max(largest, std::abs(value));
      }
      *unit = largest > 0 ? std::ldexp(1.0, std::ilogb(largest) - 29) : 1.0;
    }
    if (l2_ == 0) l2_ = find_l2(sums, gradients, hessians);
    rows_.clear();
    for (std::size_t r = 0; r < sums.rows; ++r)
      rows_.push_back({static_cast<std::int32_t>(std::lrint(gradients[r] / gradient_unit_)),
                       static_cast<std::int32_t>(std::lrint(hessians[r] / hessian_unit_))});
    return true;
  }

  double find_l2(const Sums& sums, const std::vector<float>& gradients,
                 const std::vector<float>& hessians) const {
    if (!has_hessian(label_)) return 30;
    double squares = 0, total = 0;
    for (std::size_t r = 0; r < sums.rows; ++r) {
      const double weight = weight_of(sums.data, r), gradient = gradients[r];
      if (weight > 0) squares += gradient * gradient / weight;
      total += hessians[r];
    }
    const double l2 = 8 * squares / total;
    return std::isfinite(l2) && l2 > 0 ? l2 : 1.0;
  }

  double gradient(const GradientSums& sums) const {
    return static_cast<double>(sums.gradient) * gradient_unit_;
  }
  double denominator(const GradientSums& sums) const {
    return static_cast<double>(sums.hessian) * hessian_unit_ + l2_;
  }
  double gain(const GradientSums& sums) const {
    return gradient(sums) * gradient(sums) / denominator(sums);
  }

  // Grows leaf by leaf. Leaves and splits are renumbered into reading order by the recursion.
  struct Leaf {
    std::vector<std::uint32_t> rows;
    Split best;
    std::size_t left = 0, right = 0;  // leaves that replace it; 0: none do
  };

  Tree tree_of(const Sums& sums) {
    std::vector<Leaf> nodes(1);
    nodes[0].rows.resize(sums.rows);
    std::iota(nodes[0].rows.begin(), nodes[0].rows.end(), 0u);
    nodes[0].best = best_split(sums, nodes[0].rows);
    // In the order in which grow_forest numbers leaves, which decides between equal gains.
    std::vector<std::size_t> leaves = {0};
    while (static_cast<int>(leaves.size()) < in_.plan.leaves) {
      const auto best =
          std::ranges::max_element(leaves, {}, [&](std::size_t n) { return nodes[n].best.gain; });
      if (nodes[*best].best.gain == 0) break;
      const std::size_t parent = *best;
      Leaf sides[2];
      const TreeSplit& split = nodes[parent].best.split;
      for (const std::uint32_t row : nodes[parent].rows)
        sides[split.right[sums.bins.column(split.column)[row]]].rows.push_back(row);
      for (Leaf& side : sides) side.best = best_split(sums, side.rows);
      nodes[parent].left = nodes.size();
      nodes[parent].right = nodes.size() + 1;
      *best = nodes.size();
      leaves.push_back(nodes.size() + 1);
      for (Leaf& side : sides) nodes.push_back(std::move(side));
    }
    Tree tree;
    std::vector<double> weights;
    read(sums, nodes, 0, tree, weights);
    const double largest = std::ranges::max(weights);
    std::vector<float> variance;
    for (const double own : weights)
      variance.push_back(static_cast<float>((own / largest) * (own / largest)));
    project_orders(tree.values, leaf_orders(tree, columns_), {.variance = variance.data()});
    return tree;
  }

  std::int32_t read(const Sums& sums, const std::vector<Leaf>& nodes, std::size_t at, Tree& tree,
                    std::vector<double>& weights) const {
    const Leaf& node = nodes[at];
    if (node.left == 0) {
      tree.values.push_back(static_cast<float>(in_.plan.rate * step_of(sums, node.rows)));
      weights.push_back(denominator(total_of(node.rows)));
      return ~static_cast<std::int32_t>(tree.values.size() - 1);
    }
    const std::size_t own = tree.splits.size();
    tree.splits.push_back(node.best.split);
    tree.next.emplace_back();
    const std::int32_t left = read(sums, nodes, node.left, tree, weights);
    const std::int32_t right = read(sums, nodes, node.right, tree, weights);
    tree.next[own] = {left, right};
    return static_cast<std::int32_t>(own);
  }

  GradientSums total_of(const std::vector<std::uint32_t>& rows) const {
    GradientSums total;
    for (const std::uint32_t row : rows) total += rows_[row];
    return total;
  }

  double step_of(const Sums& sums, const std::vector<std::uint32_t>& rows) const {
    const GradientSums total = total_of(rows);
    const double step = -gradient(total) / denominator(total);
    if (has_hessian(label_)) return label_.has_log_link() ? std::clamp(step, -4.0, 4.0) : step;
    std::vector<std::pair<float, float>> residuals;  // and weights
    double wanted = 0, below = 0;
    for (const std::uint32_t r : rows) {
      const LossRow row = row_of(sums.data, r);
      const float weight = weight_of(sums.data, r);
      const double z = (row.y - label_.offsets[row.level] - row.offset) / label_.scale;
      const auto q =
          static_cast<float>(label_.quantiles.empty() ? 0.5 : label_.quantiles[row.level]);
      residuals.push_back({static_cast<float>(z - sums[r]), weight});
      wanted += static_cast<double>(weight) * q;
    }
    std::ranges::sort(residuals);
    for (const auto& [value, weight] : residuals) {
      below += weight;
      if (below >= wanted) return value * (1 - l2_ / denominator(total));
    }
    return residuals.back().first * (1 - l2_ / denominator(total));
  }

  Split best_split(const Sums& sums, const std::vector<std::uint32_t>& rows) const {
    Split best;
    const GradientSums total = total_of(rows);
    for (const std::size_t c : candidates_) {
      const ColumnBins& column = columns_[c];
      std::vector<GradientSums> histogram(column.num_bins);
      for (const std::uint32_t row : rows) histogram[sums.bins.column(c)[row]] += rows_[row];
      const std::vector<std::size_t> order = order_of(column, histogram, total);
      for (const bool missing_right : {false, true}) {
        if (missing_right && !column.has_missing) break;
        GradientSums left = column.has_missing && !missing_right ? histogram[0] : GradientSums();
        for (std::size_t cut = 0; cut < order.size(); left += histogram[order[cut++]]) {
          const double own = gain_of(left, total - left, column.monotone);
          if (own <= best.gain) continue;
          best = {own, {.column = c, .right = std::vector<std::uint8_t>(column.num_bins)}};
          for (std::size_t k = cut; k < order.size(); ++k) best.split.right[order[k]] = 1;
          if (column.has_missing) best.split.right[0] = missing_right ? 1 : 0;
        }
      }
    }
    return best;
  }

  double gain_of(const GradientSums& left, const GradientSums& right, bool monotone) const {
    if (left.is_zero()) return 0;
    if (monotone && gradient(left) * denominator(right) < gradient(right) * denominator(left))
      return 0;
    GradientSums both = left;
    both += right;
    return gain(left) + gain(right) - gain(both);
  }

  std::vector<std::size_t> order_of(const ColumnBins& column,
                                    const std::vector<GradientSums>& histogram,
                                    const GradientSums& total) const {
    std::vector<std::size_t> order(column.num_bins - column.first_value());
    std::iota(order.begin(), order.end(), column.first_value());
    if (!column.is_category) return order;
    const double l2 = 3 * l2_, shrunk_to = l2 * gradient(total) / denominator(total);
    std::ranges::stable_sort(order, {}, [&](std::size_t b) {
      return -(gradient(histogram[b]) + shrunk_to) / (denominator(histogram[b]) + l2);
    });
    return order;
  }

  const ForestInput& in_;
  const Label& label_;
  std::vector<ColumnBins> columns_;
  std::vector<Tree> trees_;
  std::vector<std::size_t> candidates_;
  std::vector<GradientPair> rows_;
  double gradient_unit_ = 1, hessian_unit_ = 1, l2_ = 0;
};

}  // namespace espalier
