// SPDX-License-Identifier: Apache-2.0
// The grammar of models: a list of layers, each reading the wires that the one before it gives.
//
//   cal(K)  cal(K,lo:hi)   calibrators, one per wire, K keypoints; a range left out is fitted to
//                          the data
//   lin(D)  lin(D,split)   linear embedding; D follows from the next layer if left out; see
//                          Embedding
//   lin(D,monotone=N)      N of the D outputs are monotone; else their share is that of the inputs
//   lat(GxS)  lat(GxS,simplex)  lat
//                          G lattices of S wires each; without a size one lattice of all wires
//   gather(GxS)  gather(3,1,2)
//                          which wires go on: G groups of S different ones drawn at random, or
//                          listed
//   gather(GxS,crystals)   the groups are searched for by training; only as the first layer
//   sum                    one wire: the sum of all
//   minmax(GxS)            one wire: the maximum over G groups of the minimum over S wires
//   relu                   max(x, 0) of each wire
//   tree(3>0.25,_,1>0.5,_,_)
//                          trees of questions, each as one reads it: a question, whether wire 3 is
//                          above 0.25, then what follows where it is not, then what follows where
//                          it is; _ is a leaf. The next tree begins where one is complete
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

/// What the rows of a linear embedding read. Non-monotone rows read non-monotone wires only.
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
  random,    ///< drawn, all wires about equally often
  crystals,  ///< searched by training: features that interact share a group
};
template <>
struct Words<Wiring> {
  static constexpr std::string_view list[] = {"random", "crystals"};
};

struct Range {
  float lo;
  float hi;
};

/// What one reads of a tree: whether a wire lies above a number, or a leaf.
struct TreeNode {
  int wire = -1;  // -1: a leaf
  float above = 0;

  bool is_leaf() const { return wire < 0; }
};

/// One layer as written; 0 stands for a size that was left out.
struct LayerSpec {
  LayerKind kind;
  int keypoints = 0;                       // cal
  std::optional<Range> range = {};         // cal
  int outputs = 0;                         // lin
  int monotone_outputs = 0;                // lin(D,monotone=N); 0: the monotone share of the inputs
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

/// Reads layers. Throws Error (argument) that names the layer and what was wanted.
Architecture parse_architecture(std::string_view text);

/// Writes layers so that parse_architecture reads them back.
std::string to_string(const LayerSpec& layer);
std::string to_string(const Architecture& architecture);

/// The layer without the wires that it lists and the trees it is made of: "gather", "lat(70x5)".
std::string short_name(const LayerSpec& layer);

}  // namespace espalier
