// SPDX-License-Identifier: Apache-2.0
// A model laid open: what it promises and what each layer of each network holds, as typed values.
// Whatever shows or exports a model reads this.
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

/// What one wire between two layers carries.
struct NamedWire {
  /// That of the feature whose value it carries, also after calibration; "4.7" is output 7 of layer
  /// 4, layers counted from 1, outputs from 0.
  std::string name;
  bool monotone = false;  ///< it never falls with what must raise the prediction
  /// Of schema().features, if the wire carries its cells as the table has them.
  const Feature* feature = nullptr;
  /// Of schema().pairs, if the wire carries its number; its name is then "first*second".
  const Pair* pair = nullptr;
};

/// One calibrator: a curve through (inputs[k], outputs[k]), linear between them and constant
/// beyond.
struct Curve {
  std::size_t wire = 0;  ///< of the layer's inputs
  /// It must rise, as the wires are turned: the outputs of a decreasing feature fall.
  bool rises = false;
  /// Strictly increasing: of a feature in units of the table, else of the wire; of a pair its
  /// codes. Empty for a category.
  std::vector<float> inputs;
  /// What stands at each output, of an ordered feature or a category; else empty.
  std::span<const std::string> categories;
  std::vector<float> outputs;
  std::optional<float> missing;  ///< the output of a missing cell, if one was learned
};

/// What a pair with a monotone column passes: a table over both, linear between its vertices. Along
/// a decreasing feature it counts from the largest value, so that it rises.
struct PairTable {
  std::size_t wire = 0;           ///< of the layer's inputs, whose `pair` has the vertices
  bool rises[2] = {};             ///< whether it must rise along the first and the second feature
  std::span<const float> values;  ///< [vertices of first][vertices of second]
};

struct CalibratorParts {
  std::vector<Curve> curves;  ///< categories that pass through to an embedding have none
  std::vector<PairTable> tables;
};

/// What a linear embedding gives to one input: to a number its weights, to a category a row of
/// weights for each of its words.
struct InputWeights {
  std::size_t first_output = 0;
  std::size_t num_outputs = 0;
  std::span<const float> weights;  ///< [1 or the words][num_outputs]
};

struct EmbeddingParts {
  std::vector<InputWeights> inputs;  ///< one for each of the layer's inputs
  std::span<const float> bias;       ///< one for each output
};

/// The table of one lattice.
struct LatticeTable {
  std::size_t first_wire = 0;      ///< its wires are first_wire, first_wire + 1, ... of the layer
  std::vector<std::size_t> sizes;  ///< vertices along each of its wires
  std::vector<bool> rises;         ///< whether it must rise along each
  /// Neighbours along the first wire lie side by side: [sizes[last]]...[sizes[1]][sizes[0]].
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

/// Questions and leaves, as one reads them: the questions of `nodes` ask for wires of the layer,
/// and the leaves of `nodes` have these values, in turn.
struct TreeTable {
  std::span<const TreeNode> nodes;
  std::span<const float> leaves;
};

struct TreeParts {
  std::vector<TreeTable> trees;  ///< one for each output
};

struct LayerAnatomy {
  std::string name;  ///< as the grammar writes it, a list of wires or trees left out: "lat(70x5)"
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
};

/// That the prediction never falls, or never rises, with a feature: to the last bit.
struct Promise {
  std::size_t feature = 0;  ///< of schema().features
  Monotonicity direction = Monotonicity::none;
};

/// Spans and pointers lead into the model, which this keeps alive.
struct Anatomy {
  Model model;
  std::vector<Promise> promises;
  std::vector<NetworkAnatomy> networks;  ///< the prediction is that of their mean
};

Anatomy anatomy(const Model& model);

}  // namespace espalier
