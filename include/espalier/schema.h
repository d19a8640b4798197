// SPDX-License-Identifier: Apache-2.0
// What a model knows of its table: which columns it reads, what they mean, what it predicts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/words.h"

namespace espalier {

enum class FeatureKind { number, ordered, category };
enum class Monotonicity { none, increasing, decreasing };
enum class Task { automatic, classification, regression };
/// At most so many classes without an order.
inline constexpr std::size_t kMaxClasses = 100;
/// What training lowers; docs/objectives.md has the formulas.
enum class Loss {
  automatic,
  log_loss,
  squared_error,
  absolute_error,
  quantile,
  poisson,
  gamma,
  tweedie,
};
/// What a column is to a model. Features and label have a description each; the others stand beside
/// them, a number per row.
enum class Role { feature, label, weight, exposure, offset };

template <>
struct Words<FeatureKind> {
  static constexpr std::string_view list[] = {"number", "ordered", "category"};
};
template <>
struct Words<Monotonicity> {
  static constexpr std::string_view list[] = {"none", "increasing", "decreasing"};
};
inline Monotonicity opposite(Monotonicity direction) noexcept {
  return direction == Monotonicity::increasing   ? Monotonicity::decreasing
         : direction == Monotonicity::decreasing ? Monotonicity::increasing
                                                 : direction;
}
template <>
struct Words<Task> {
  static constexpr std::string_view list[] = {"automatic", "classification", "regression"};
};

template <>
struct Words<Loss> {
  static constexpr std::string_view list[] = {"automatic",      "log_loss", "squared_error",
                                              "absolute_error", "quantile", "poisson",
                                              "gamma",          "tweedie"};
};
template <>
struct Words<Role> {
  static constexpr std::string_view list[] = {"feature", "label", "weight", "exposure", "offset"};
};

/// The roles of columns beside features and label, and those of them that a prediction reads too,
/// in the order in which they stand behind the features of a row.
inline constexpr Role kSideRoles[] = {Role::weight, Role::exposure, Role::offset};
inline constexpr Role kPredictionRoles[] = {Role::exposure, Role::offset};

/// The names of the columns beside features and label, by role.
using SideColumns = std::map<Role, std::string>;

/// One column that the model reads.
struct Feature {
  std::string name;
  FeatureKind kind = FeatureKind::number;
  Monotonicity monotonicity = Monotonicity::none;

  /// number, ordered: where the calibrators bend, strictly increasing, at least two. An ordered
  /// feature counts its words 0, 1, 2, ...
  std::vector<float> keypoints;
  /// number, ordered: whether training had missing cells, so that an output for them was learned.
  bool learns_missing = false;
  /// number, ordered: what a missing cell counts as where none was learned: the training median.
  float typical = 0;

  /// ordered: its words from low to high. category: the words seen in training; the empty word is
  /// "missing" as a category of its own. Words that are the same plain number, such as 1 and 1.0,
  /// are one word.
  std::vector<std::string> categories;
  /// category: the share of the training weight of each word. An unseen word counts as the mean of
  /// the trained ones with these weights.
  std::vector<float> shares;
  /// category: the last entry of words stands for all that were too rare for one of their own, and
  /// unseen words join it.
  bool pools_rare = false;

  /// Words that mean "missing" in this column beyond the usual ones, and usual ones that do not.
  std::vector<std::string> missing;
  std::vector<std::string> not_missing;
};

/// The column that the model predicts.
///
/// Several quantiles and ordered classes are predicted by levels: a network reads the level beside
/// the row, as one more input that it is monotone in, and gives one number for each.
struct Label {
  std::string name;
  Loss loss = Loss::squared_error;  ///< never automatic in a model
  bool is_number = true;            ///< how the column is written in tables
  /// classification: the values, as words (a number with its fewest digits); of two the second one
  /// is positive. Grades are ordered, from low to high.
  std::vector<std::string> classes = {};
  bool ordered = false;
  /// classes without an order: what is promised of the probability of each when a feature with a
  /// direction moves its way, an increasing one up, a decreasing one down; empty if nothing is.
  std::vector<Monotonicity> promises = {};
  std::vector<double> quantiles = {};  ///< quantile: which, rising
  double power = 0;                    ///< poisson: 1, gamma: 2, tweedie: between them
  /// score = offset + scale * network, an offset for each score: what a model without features
  /// would say, in units of the label's deviation, so that every network works in the same units.
  std::vector<double> offsets = {0};
  double scale = 1;
  /// poisson, gamma, tweedie: prediction = unit * e^score, a power of two.
  double unit = 1;
  /// Words that mean "missing" in this column beyond the usual ones, and usual ones that do not.
  std::vector<std::string> missing = {};
  std::vector<std::string> not_missing = {};

  Task task() const noexcept {
    return loss == Loss::log_loss ? Task::classification : Task::regression;
  }
  /// More than two classes without an order: one output of the network for each.
  bool has_many_classes() const noexcept { return classes.size() > 2 && !ordered; }
  /// Whether the prediction is e^score.
  bool has_log_link() const noexcept { return power != 0; }
  /// How a score moves when a feature with a direction moves its way: 1 or -1, or 0 if such
  /// features do not reach it. With scores that move so the probabilities of classes keep their
  /// promises: P(c) = 1 / (1 + the sum of e^(s_j - s_c) over the others) rises if no s_j - s_c
  /// does.
  int score_direction(std::size_t score) const noexcept {
    using enum Monotonicity;
    if (promises.empty()) return 1;
    const auto up = std::count(promises.begin(), promises.end(), increasing);
    const auto down = std::count(promises.begin(), promises.end(), decreasing);
    if (promises[score] == increasing) return up == 1 ? 1 : 0;
    if (promises[score] == decreasing) return down == 1 ? -1 : 0;
    if (up > 0 && down > 0) return 0;
    return up > 0 ? -1 : down > 0 ? 1 : 0;
  }
  /// Times that a network is asked for a row: quantiles, or grades but the lowest.
  std::size_t num_levels() const noexcept {
    if (ordered) return classes.size() - 1;
    return quantiles.size() > 1 ? quantiles.size() : 1;
  }
  /// What the network reads for a level: it rises with the position, and so do quantiles, while
  /// the probability of at least a grade falls from grade to grade.
  std::size_t level_position(std::size_t level) const noexcept {
    return ordered ? num_levels() - 1 - level : level;
  }
  /// Numbers that a network gives at a time, and that a model gives for a row.
  std::size_t num_outputs() const noexcept { return has_many_classes() ? classes.size() : 1; }
  std::size_t num_scores() const noexcept { return num_outputs() * num_levels(); }
};

/// Cells of a grid are cut into so many steps along each column.
inline constexpr int kGridSteps = 32;

/// Two features together: one number, made of their cells once these are encoded. Users give the
/// two columns and nothing else. Free features are crossed: the number is the code of a category.
/// Where one has a direction it is the place of the row on a grid, over which the network has a
/// table that never falls along the columns with a direction.
struct Pair {
  /// A feature cut into bins. Bin b holds the encoded cells x with edges[b - 1] <= x < edges[b]:
  /// positions among the keypoints, of a category codes.
  struct Side {
    std::size_t feature = 0;   ///< of Schema::features
    std::vector<float> edges;  ///< strictly increasing, at least one
    /// Of a grid: encoded cells where the table has a value, at least two, strictly increasing; -1
    /// first if missing cells have one. Each way from one to the next is kGridSteps bins, and the
    /// last one is a bin: the edges follow.
    std::vector<std::int32_t> vertices = {};

    std::size_t num_bins() const noexcept { return edges.size() + 1; }
  };
  Side first;
  Side second;
  /// Crossed: the code of each cell of the grid, [bins of first][bins of second], at most
  /// shares.size(), which is that of a cell unseen in training. Rare cells share one code.
  std::vector<std::int32_t> codes = {};
  /// Crossed: the share of the training weight of each code. An unseen cell counts as the mean of
  /// the trained ones with these weights.
  std::vector<float> shares = {};

  /// Else it is crossed. The number of a row on a grid is its bin, [bins of first][bins of second].
  bool is_grid() const noexcept { return codes.empty(); }
};

struct Schema {
  std::vector<Feature> features;
  std::vector<Pair> pairs = {};  ///< a network reads them behind the features
  Label label;
  SideColumns beside;
};

}  // namespace espalier
