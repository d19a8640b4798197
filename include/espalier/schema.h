// SPDX-License-Identifier: Apache-2.0
// The schema of a model: the columns that it reads, their meaning, and the label that it predicts.
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
/// The maximum number of classes without an order.
inline constexpr std::size_t kMaxClasses = 100;
/// The loss that training minimizes; docs/objectives.md has the formulas.
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
/// The role of a column. Side columns (weight, exposure, offset) have one number per row.
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
  static constexpr std::string_view list[] = {"auto", "classification", "regression"};
};

template <>
struct Words<Loss> {
  static constexpr std::string_view list[] = {"auto",           "log_loss", "squared_error",
                                              "absolute_error", "quantile", "poisson",
                                              "gamma",          "tweedie"};
};
template <>
struct Words<Role> {
  static constexpr std::string_view list[] = {"feature", "label", "weight", "exposure", "offset"};
};

/// The roles of side columns, and those that predictions read too, in the order in which they
/// follow the features of a row.
inline constexpr Role kSideRoles[] = {Role::weight, Role::exposure, Role::offset};
inline constexpr Role kPredictionRoles[] = {Role::exposure, Role::offset};

/// The names of side columns, by role.
using SideColumns = std::map<Role, std::string>;

/// One column that the model reads.
struct Feature {
  std::string name;
  FeatureKind kind = FeatureKind::number;
  Monotonicity monotonicity = Monotonicity::none;

  /// number, ordered: the keypoints of first-layer calibrators, strictly increasing, at least two.
  /// The categories of an ordered feature count as 0, 1, 2, ...
  std::vector<float> keypoints;
  /// number, ordered: whether training had missing values and learned an output for them.
  bool learns_missing = false;
  /// number, ordered: the training median, which replaces missing values if no output was learned.
  float typical = 0;

  /// ordered: the categories from low to high. category: the categories seen in training; the empty
  /// string stands for missing values. Equal numbers, such as 1 and 1.0, are one category.
  std::vector<std::string> categories;
  /// category: the fraction of the training weight of each category. An unseen category counts as
  /// the mean of the trained ones with these weights.
  std::vector<float> shares;
  /// category: whether the last category stands for all rare ones, and for unseen ones too.
  bool pools_rare = false;

  /// Values that mean "missing" in this column in addition to the defaults, and defaults that do
  /// not.
  std::vector<std::string> missing;
  std::vector<std::string> not_missing;
};

/// The column that the model predicts.
///
/// Models of several quantiles or of ordered classes have levels. The level is one more monotone
/// input of the network, which returns one number per level.
struct Label {
  std::string name;
  Loss loss = Loss::squared_error;  ///< never automatic in a model
  bool is_number = true;            ///< whether the column is numeric in data files
  /// classification: the values as text (numbers with the fewest digits). The second of two classes
  /// is the positive class. Grades are ordered from low to high.
  std::vector<std::string> classes = {};
  bool ordered = false;
  /// classes without an order: the direction of each class probability when an increasing feature
  /// increases, or a decreasing feature decreases. Empty without constraints.
  std::vector<Monotonicity> promises = {};
  std::vector<double> quantiles = {};  ///< quantile: increasing
  double power = 0;                    ///< poisson: 1, gamma: 2, tweedie: between them
  /// score = offset + scale * network. An offset per score, the score of a model without features,
  /// and the deviation of the label, so that all networks work in the same units.
  std::vector<double> offsets = {0};
  double scale = 1;
  /// poisson, gamma, tweedie: prediction = unit * e^score, a power of two.
  double unit = 1;
  /// Values that mean "missing" in this column in addition to the defaults, and defaults that do
  /// not.
  std::vector<std::string> missing = {};
  std::vector<std::string> not_missing = {};

  Task task() const noexcept {
    return loss == Loss::log_loss ? Task::classification : Task::regression;
  }
  /// More than two classes without an order: the network has one output per class.
  bool has_many_classes() const noexcept { return classes.size() > 2 && !ordered; }
  /// Whether the prediction is e^score.
  bool has_log_link() const noexcept { return power != 0; }
  /// The direction of a score when an increasing feature increases, or a decreasing one decreases:
  /// 1 or -1, or 0 if constrained features do not affect the score. These directions imply the
  /// promises: P(c) = 1 / (1 + sum of e^(s_j - s_c) over the other classes) increases if no s_j -
  /// s_c does.
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
  /// How often a network is evaluated per row: once per quantile, or per grade but the lowest.
  std::size_t num_levels() const noexcept {
    if (ordered) return classes.size() - 1;
    return quantiles.size() > 1 ? quantiles.size() : 1;
  }
  /// The level as an input of the network, which increases in it. Quantiles increase with the
  /// level; the probability of at least a grade decreases from grade to grade.
  std::size_t level_position(std::size_t level) const noexcept {
    return ordered ? num_levels() - 1 - level : level;
  }
  /// The outputs of a network per evaluation, and of a model per row.
  std::size_t num_outputs() const noexcept { return has_many_classes() ? classes.size() : 1; }
  std::size_t num_scores() const noexcept { return num_outputs() * num_levels(); }
};

/// The number of steps between two vertices of a grid, along each feature.
inline constexpr int kGridSteps = 32;

/// Two features combined into one number, computed from their encoded values. Unconstrained
/// features are crossed: the number is the code of a category. If a feature is constrained, the
/// number is a position on a grid. The network then has a table over the grid that is monotonic in
/// the constrained features.
struct Pair {
  /// A binned feature. Bin b has the encoded values x with edges[b - 1] <= x < edges[b]: positions
  /// among the keypoints, or category codes.
  struct Side {
    std::size_t feature = 0;   ///< index into Schema::features
    std::vector<float> edges;  ///< strictly increasing, at least one
    /// Grid: encoded values where the table has a vertex, strictly increasing, at least two. The
    /// first one is -1 if missing values have a vertex. There are kGridSteps bins between two
    /// vertices, and one bin for the last vertex.
    std::vector<std::int32_t> vertices = {};

    std::size_t num_bins() const noexcept { return edges.size() + 1; }
  };
  Side first;
  Side second;
  /// Crossed: the code of each combination, [bins of first][bins of second]. shares.size() is the
  /// code of combinations that training did not see. Rare combinations share one code.
  std::vector<std::int32_t> codes = {};
  /// Crossed: the fraction of the training weight of each code. An unseen combination counts as the
  /// mean of the trained ones with these weights.
  std::vector<float> shares = {};

  /// Whether the pair is a grid; else it is crossed. The number of a row on a grid is its bin,
  /// [bins of first][bins of second].
  bool is_grid() const noexcept { return codes.empty(); }
};

struct Schema {
  std::vector<Feature> features;
  std::vector<Pair> pairs = {};  ///< inputs of the network after the features
  Label label;
  SideColumns beside;
};

}  // namespace espalier
