// SPDX-License-Identifier: Apache-2.0
#include "layers/tree_plan.h"

#include <utility>

namespace espalier {

TreePlan::TreePlan(std::span<const TreeNode> nodes) {
  std::int32_t leaves = 0;
  std::vector<std::pair<std::size_t, int>> open;  // answers behind which nothing stands yet
  for (const TreeNode& node : nodes) {
    const std::int32_t own =
        node.is_leaf() ? ~leaves++ : static_cast<std::int32_t>(questions.size());
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
