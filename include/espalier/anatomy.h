// SPDX-License-Identifier: Apache-2.0
// The parameters of a model as typed values: its promises, and the contents of each layer of each
// network and of each tree. `inspect`, the report page and the Python package read an Anatomy.
//
//   const espalier::Anatomy opened = espalier::anatomy(model);
//   for (const espalier::LayerAnatomy& layer : opened.networks[0].layers) {
//     if (const auto* parts = std::get_if<espalier::CalibratorParts>(&layer.parts)) ...
//   }
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "espalier/architecture.h"
#include "espalier/model.h"
#include "espalier/schema.h"

namespace espalier {

/// One wire between two layers.
struct NamedWire {
  /// The name of the feature whose value the wire carries, before or after calibration. "4.7" is
  /// output 7 of layer 4; layers count from 1, outputs from 0.
  std::string name;
  bool monotone = false;  ///< increases with the features that must raise the prediction
  /// The feature whose raw values the wire carries, else null. Points into schema().features.
  const Feature* feature = nullptr;
  /// The pair of features whose value the wire carries, else null. Points into schema().pairs. The
  /// name is then "first*second".
  const Pair* pair = nullptr;
};

/// One calibrator: the piecewise linear curve through (inputs[k], outputs[k]), constant outside.
struct Curve {
  std::size_t wire = 0;  ///< index among the layer's inputs
  /// Whether the calibrator must be increasing inside the network. The outputs of a decreasing
  /// feature then decrease in units of the feature.
  bool rises = false;
  /// Keypoints, strictly increasing: in units of the feature, of the wire, or codes of a pair.
  /// Empty for a categorical feature.
  std::vector<float> inputs;
  /// The category of each output, for ordered and categorical features; else empty.
  std::span<const std::string> categories;
  std::vector<float> outputs;
  std::optional<float> missing;  ///< the output for a missing value, if training learned one
};

/// The table of a pair with a constrained feature, linear between its vertices. Along a decreasing
/// feature the vertices count from the largest value, so that the table increases.
struct PairTable {
  std::size_t wire = 0;           ///< index among the layer's inputs; its `pair` has the vertices
  bool rises[2] = {};             ///< whether the table must increase along each feature
  std::span<const float> values;  ///< [vertices of first][vertices of second]
};

struct CalibratorParts {
  std::vector<Curve> curves;  ///< categories that pass through to an embedding have none
  std::vector<PairTable> tables;
};

/// The weights of one input of a linear embedding: one row for a number, one row per category for a
/// categorical feature.
struct InputWeights {
  std::size_t first_output = 0;
  std::size_t num_outputs = 0;
  std::span<const float> weights;  ///< [1 or categories][num_outputs]
};

struct EmbeddingParts {
  std::vector<InputWeights> inputs;  ///< one for each of the layer's inputs
  std::span<const float> bias;       ///< one for each output
};

/// The table of one lattice.
struct LatticeTable {
  std::size_t first_wire = 0;      ///< the lattice reads first_wire, first_wire + 1, ...
  std::vector<std::size_t> sizes;  ///< vertices along each wire
  std::vector<bool> rises;         ///< whether the lattice must increase along each wire
  /// [sizes[last]]...[sizes[1]][sizes[0]]: neighbors along the first wire are adjacent.
  std::span<const float> vertices;
};

struct LatticeParts {
  Interpolation interpolation = Interpolation::multilinear;
  std::vector<LatticeTable> lattices;  ///< one for each output
};

struct GatherParts {
  std::span<const int> wires;  ///< output i is input wires[i]
};

struct SumParts {};

/// The maximum over groups of the minimum over group_size wires each.
struct MinMaxParts {
  int groups = 0;
  int group_size = 0;
};

struct ReluParts {};

/// One tree in depth-first order. Splits in `nodes` test wires of the layer; `leaves` has the
/// values of the leaves in `nodes`, in order.
struct TreeTable {
  std::span<const TreeNode> nodes;
  std::span<const float> leaves;
};

struct TreeParts {
  std::vector<TreeTable> trees;  ///< one for each output
};

struct LayerAnatomy {
  std::string name;  ///< short_name of its LayerSpec: "lat(70x5)"
  std::vector<NamedWire> inputs;
  std::size_t num_outputs = 0;
  std::size_t num_monotone_outputs = 0;
  std::size_t num_parameters = 0;
  std::variant<CalibratorParts, EmbeddingParts, LatticeParts, GatherParts, SumParts, MinMaxParts,
               ReluParts, TreeParts>
      parts;
};

struct NetworkAnatomy {
  std::vector<LayerAnatomy> layers;
  std::size_t num_scores = 0;  ///< outputs of the last layer
  float weight = 1;            ///< in the mean
};

/// A split of a tree. It tests a number or an ordered feature by its value, a category by its word.
struct SplitParts {
  std::size_t feature = 0;     ///< of schema().features; their number: the position of the level
  float threshold = 0;         ///< values at or above it go right; -infinity: all values
  bool missing_right = false;  ///< a number, ordered: whether missing values go right
  /// A category: whether each of its words goes right, then an unseen one. Else empty.
  std::vector<bool> categories_right;
  int left = 0;  ///< a split of the same tree, or the leaf ~left
  int right = 0;
};

/// Splits and leaves in reading order: a split, all that lies left of it, all that lies right.
struct TreeAnatomy {
  std::vector<SplitParts> splits;
  std::span<const float> leaves;
};

/// The output of a forest is the sum of one leaf of each tree.
struct ForestAnatomy {
  std::vector<TreeAnatomy> trees;
  std::size_t num_leaf_orders = 0;  ///< pairs of leaves whose values monotonicity orders, reduced
  float weight = 1;                 ///< in the mean
};

/// The prediction never decreases, or never increases, in a feature: to the last bit.
struct Promise {
  std::size_t feature = 0;  ///< index into schema().features
  Monotonicity direction = Monotonicity::none;
};

/// Spans and pointers point into the model, which an Anatomy keeps alive.
struct Anatomy {
  Model model;
  std::vector<Promise> promises;
  /// The model predicts from the weighted mean of the outputs of its networks and forests.
  std::vector<NetworkAnatomy> networks;
  std::vector<ForestAnatomy> forests;
};

Anatomy anatomy(const Model& model);

}  // namespace espalier
