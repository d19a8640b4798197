// SPDX-License-Identifier: Apache-2.0
// The architecture grammar: a list of layers. Each layer reads the outputs of the layer before it.
//
//   cal(K)  cal(K,lo:hi)   calibrators, one per wire, with K keypoints from lo to hi; without a
//   range,
//                          training fits it to the data
//   lin(D)  lin(D,split)   linear embedding, see Embedding; without D, the next layer sets its size
//   lin(D,monotone=N)      N of the D outputs are monotone; by default, the same fraction as of the
//                          inputs
//   lat(GxS)  lat(GxS,simplex)  lat
//                          G lattices of S wires each; without a size, one lattice of all wires
//   gather(GxS)  gather(3,1,2)
//                          selects wires: G random groups of S different wires, or a list
//   gather(GxS,crystals)   training searches for the groups; only as the first layer
//   sum                    one wire: the sum of all
//   minmax(GxS)            one wire: the maximum over G groups of the minimum over S wires
//   relu                   max(x, 0) of each wire
//   tree(3>0.25,_,1>0.5,_,_)
//                          trees in depth-first order: the split "wire 3 is above 0.25", then the
//                          subtree where it is false, then the subtree where it is true; _ is a
//                          leaf. The next tree begins where a tree is complete
//
// A lattice layer is preceded by a seeded random permutation of its wires unless `gather` wired it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/words.h"

namespace espalier {

enum class LayerKind { cal, lin, lat, gather, sum, minmax, relu, tree };
template <>
struct Words<LayerKind> {
  static constexpr std::string_view list[] = {"cal", "lin",    "lat",  "gather",
                                              "sum", "minmax", "relu", "tree"};
};

/// Which inputs a row of a linear embedding reads. Non-monotone rows read non-monotone wires only.
enum class Embedding {
  mixed,  ///< monotone rows read all wires: weights >= 0 on monotone ones, free on the others
  split,  ///< monotone rows read monotone wires only, as in the paper
};
template <>
struct Words<Embedding> {
  static constexpr std::string_view list[] = {"mixed", "split"};
};

enum class Interpolation { multilinear, simplex };
template <>
struct Words<Interpolation> {
  static constexpr std::string_view list[] = {"multilinear", "simplex"};
};

/// How a gather(GxS) chooses its wires.
enum class Wiring {
  random,    ///< at random, all wires about equally often
  crystals,  ///< by training: features that interact are in the same group
};
template <>
struct Words<Wiring> {
  static constexpr std::string_view list[] = {"random", "crystals"};
};

struct Range {
  float lo;
  float hi;
};

/// A split, whether a wire is above a number, or a leaf.
struct TreeNode {
  int wire = -1;  // -1: a leaf
  float above = 0;

  bool is_leaf() const { return wire < 0; }
};

/// One layer as written; a size of 0 was left out.
struct LayerSpec {
  LayerKind kind;
  int keypoints = 0;                       // cal
  std::optional<Range> range = {};         // cal
  int outputs = 0;                         // lin
  int monotone_outputs = 0;                // lin(D,monotone=N); 0: the fraction of the inputs
  Embedding embedding = Embedding::mixed;  // lin
  int groups = 0;                          // lat, gather, minmax: G
  int group_size = 0;                      // lat, gather, minmax: S
  Interpolation interpolation = Interpolation::multilinear;  // lat
  Wiring wiring = Wiring::random;                            // gather(GxS)
  std::vector<int> wires = {};                               // gather: the listed ones
  std::vector<TreeNode> nodes = {};                          // tree: of one tree after another
};

struct Architecture {
  std::vector<LayerSpec> layers;
};

/// Parses layers. Throws Error (argument) that names the layer and the expected form.
Architecture parse_architecture(std::string_view text);

/// The text that parse_architecture reads back.
std::string to_string(const LayerSpec& layer);
std::string to_string(const Architecture& architecture);

/// The layer without lists of wires and trees: "gather", "lat(70x5)".
std::string short_name(const LayerSpec& layer);

}  // namespace espalier
