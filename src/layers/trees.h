// SPDX-License-Identifier: Apache-2.0
// Trees: output g is the value of the leaf of tree g to which the answers of a row lead. A question
// is whether a wire lies above a number.
//
// Two leaves of which a row may leave one for the other by raising monotone wires alone must not
// fall: that is, on every wire that both paths ask, the stretches that lead to them overlap or, if
// the wire is monotone, the second one reaches higher. Paths of two leaves part at some question;
// if it asks for a free wire neither leads to the other, and else only the one that answered no
// does. So orders lead from leaves to later ones, as they are read, and never round in a circle.
//
// params: the leaves of one tree after another, each in the order in which they are read.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "constraints/inequalities.h"
#include "espalier/architecture.h"
#include "layers/layer.h"
#include "layers/tree_plan.h"
#include "layers/tree_tiles.h"

namespace espalier {

/// Of leaves of the same tree, in all trees of a layer that ask for monotone wires.
inline constexpr std::size_t kMaxLeafPairs = std::size_t{1} << 24;

inline constexpr std::size_t leaf_pairs(std::size_t leaves) { return leaves * (leaves - 1) / 2; }

/// Whether a tree asks for a monotone wire.
bool asks_monotone(std::span<const TreeNode> tree, const std::function<bool(int)>& is_monotone);

/// What must hold between the leaves of one tree, counted from its first.
std::vector<Order> leaf_orders(std::span<const TreeNode> tree,
                               const std::function<bool(int)>& is_monotone);

class Trees final : public Layer {
 public:
  /// nodes: as LayerSpec has them, of wires that there are.
  Trees(std::vector<Wire> inputs, std::span<const TreeNode> nodes, OutputBounds bounds);

  std::size_t scratch_size() const override { return 2 * tiles_.splits().size(); }
  void evaluate(const float* params, const double* in, double* out) const override;
  void forward(const float* params, const float* in, float* out, float* scratch) const override;
  void backward(const float* params, const float* in, const float* grad_out, float* grad_in,
                float* grad_params, float* scratch) const override;
  void initialize(float* params, const InitialState& state) override;
  void project(float* unit_params, int unit, Projection how,
               const ChainWeights& weights) const override;
  double largest_output(const float* params, double) const override {
    return largest_of({params, num_params()});
  }

  const TreePlan& plan() const { return plan_; }

 private:
  UnitNames unit_names() const override { return {"tree", "leaf"}; }

  TreePlan plan_;
  TreeTiles tiles_;
};

}  // namespace espalier
