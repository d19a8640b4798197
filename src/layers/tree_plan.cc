// SPDX-License-Identifier: Apache-2.0
#include "layers/tree_plan.h"

#include <utility>

namespace espalier {

std::vector<std::span<const TreeNode>> trees_of(std::span<const TreeNode> nodes) {
  std::vector<std::span<const TreeNode>> trees;
  std::size_t begin = 0, left = 1;  // nodes that are to come before the tree is complete
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    left = nodes[n].is_leaf() ? left - 1 : left + 1;
    if (left > 0) continue;
    trees.push_back(nodes.subspan(begin, n + 1 - begin));
    begin = n + 1;
    left = 1;
  }
  return trees;
}

TreePlan::TreePlan(std::span<const TreeNode> nodes) {
  for (const std::span<const TreeNode> tree : trees_of(nodes)) leaves.push_back(num_leaves(tree));
  std::int32_t leaf = 0;
  std::vector<std::pair<std::size_t, int>> open;  // answers behind which nothing stands yet
  for (const TreeNode& node : nodes) {
    const std::int32_t own = node.is_leaf() ? ~leaf++ : static_cast<std::int32_t>(questions.size());
    if (open.empty()) {
      roots.push_back(own);
    } else {
      const auto [question, answer] = open.back();
      open.pop_back();
      questions[question].next[answer] = own;
    }
    if (node.is_leaf()) continue;
    for (const int answer : {1, 0}) open.emplace_back(questions.size(), answer);
    questions.push_back({node.wire, node.above, {}});
  }
}

}  // namespace espalier
