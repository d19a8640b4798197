// SPDX-License-Identifier: Apache-2.0
#include "layers/trees.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "constraints/orders.h"
#include "layers/kernels.h"

namespace espalier {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// What leads to a leaf: lo < wire <= hi.
struct Stretch {
  int wire;
  bool is_monotone;
  float lo = -kInfinity;
  float hi = kInfinity;
};
using Path = std::vector<Stretch>;  // by wire

void narrow(Path& path, const TreeNode& question, bool is_monotone, bool is_above) {
  auto at = std::ranges::lower_bound(path, question.wire, {}, &Stretch::wire);
  if (at == path.end() || at->wire != question.wire)
    at = path.insert(at, {question.wire, is_monotone});
  if (is_above) {
    at->lo = std::max(at->lo, question.above);
  } else {
    at->hi = std::min(at->hi, question.above);
  }
}

// The paths to the leaves of a tree.
std::vector<Path> paths_of(std::span<const TreeNode> tree,
                           const std::function<bool(int)>& is_monotone) {
  std::vector<Path> paths, waiting = {{}};  // the last of those that wait is the next to be read
  for (const TreeNode& node : tree) {
    Path path = std::move(waiting.back());
    waiting.pop_back();
    if (node.is_leaf()) {
      paths.push_back(std::move(path));
      continue;
    }
    const bool monotone = is_monotone(node.wire);
    narrow(waiting.emplace_back(path), node, monotone, true);
    narrow(path, node, monotone, false);
    waiting.push_back(std::move(path));
  }
  return paths;
}

// Whether a row on the first path comes onto the second one when monotone wires rise, or do not
// move.
bool leads(const Path& from, const Path& to) {
  auto a = from.begin(), b = to.begin();
  while (a != from.end() && b != to.end()) {
    if (a->wire != b->wire) {
      ++(a->wire < b->wire ? a : b);
      continue;
    }
    const float least = a->is_monotone ? a->lo : std::max(a->lo, b->lo);
    const float most = a->is_monotone ? b->hi : std::min(a->hi, b->hi);
    if (!(least < most)) return false;
    ++a, ++b;
  }
  return true;
}

}  // namespace

bool asks_monotone(std::span<const TreeNode> tree, const std::function<bool(int)>& is_monotone) {
  return std::ranges::any_of(
      tree, [&](const TreeNode& node) { return !node.is_leaf() && is_monotone(node.wire); });
}

std::vector<Order> leaf_orders(std::span<const TreeNode> tree,
                               const std::function<bool(int)>& is_monotone) {
  std::vector<Order> orders;
  if (!asks_monotone(tree, is_monotone)) return orders;
  const std::vector<Path> paths = paths_of(tree, is_monotone);
  for (std::uint32_t low = 0; low < paths.size(); ++low) {
    for (std::uint32_t high = low + 1; high < paths.size(); ++high) {
      if (leads(paths[low], paths[high])) orders.push_back({low, high});
    }
  }
  return orders;
}

Trees::Trees(std::vector<Wire> inputs, std::span<const TreeNode> nodes, OutputBounds bounds)
    : Layer(std::move(inputs)), plan_(nodes), tiles_(plan_) {
  const auto is_monotone = [&](int wire) {
    return this->inputs()[static_cast<std::size_t>(wire)].monotone;
  };
  for (const std::span<const TreeNode> tree : trees_of(nodes)) {
    add_unit(num_leaves(tree));
    if (bounds == OutputBounds::unit_interval)
      require(Bounds{.count = num_leaves(tree), .lo = 0, .hi = 1});
    for (const Order& order :
         transitive_reduction(leaf_orders(tree, is_monotone), num_leaves(tree)))
      require(order);
    outputs_.push_back({.monotone = asks_monotone(tree, is_monotone),
                        .in_unit = bounds == OutputBounds::unit_interval});
  }
}

void Trees::evaluate(const float* params, const double* in, double* out) const {
  for (std::size_t g = 0; g < plan_.roots.size(); ++g) out[g] = params[plan_.leaf(g, in, 1)];
}

void Trees::forward(const float* params, const float* in, float* out, float* scratch) const {
  answers_of_tile(tiles_.splits().data(), tiles_.splits().size(), in, scratch);
  tiles_.run(scratch, params, out);
}

// Leaves are constant, so that nothing goes back to the inputs.
void Trees::backward(const float*, const float* in, const float* grad_out, float* grad_in,
                     float* grad_params, float*) const {
  if (grad_in != nullptr) std::fill_n(grad_in, num_inputs() * kTile, 0.0f);
  for (std::size_t g = 0; g < plan_.roots.size(); ++g, grad_out += kTile) {
    for (int r = 0; r < kTile; ++r) grad_params[plan_.leaf(g, in + r, kTile)] += grad_out[r];
  }
}

// Leaves rise as they are read, as answers do.
void Trees::initialize(float* params, const InitialState&) {
  for (int u = 0; u < num_units(); ++u) {
    const std::size_t size = unit_size(u);
    for (std::size_t leaf = 0; leaf < size; ++leaf)
      params[unit_begin(u) + leaf] = (static_cast<float>(leaf) + 0.5f) / static_cast<float>(size);
  }
}

void Trees::project(float* unit_params, int unit, Projection, const ChainWeights& weights) const {
  const std::span<float> leaves(unit_params, unit_size(unit));
  const InequalityList list = inequalities(unit);
  project_orders(leaves, list.orders, weights);
  for (const Bounds& bounds : list.bounds) clip(leaves, bounds);
}

}  // namespace espalier
