// SPDX-License-Identifier: Apache-2.0
// Trees as they are run: plain values, for layers and for serving.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "espalier/architecture.h"

namespace espalier {

inline constexpr std::size_t kMaxLeaves = 256;  // of a tree

/// What follows from an answer: a question, or the leaf ~next.
struct TreeQuestion {
  std::int32_t wire = 0;
  float above = 0;
  std::int32_t next[2] = {};
};

/// The nodes of each tree.
std::vector<std::span<const TreeNode>> trees_of(std::span<const TreeNode> nodes);

/// One more than there are questions.
inline std::size_t num_leaves(std::span<const TreeNode> tree) { return (tree.size() + 1) / 2; }

/// Trees as they are run. Questions and leaves are counted through all of them, as they are read.
struct TreePlan {
  std::vector<TreeQuestion> questions;
  std::vector<std::int32_t> roots;  // of each tree: a question, or a leaf as in `next`
  std::vector<std::size_t> leaves;  // how many each tree has

  explicit TreePlan(std::span<const TreeNode> nodes = {});

  /// The leaf of a tree for a row whose wire w is in[w * stride].
  template <class Number>
  std::size_t leaf(std::size_t tree, const Number* in, std::size_t stride) const {
    std::int32_t at = roots[tree];
    while (at >= 0) {
      const TreeQuestion& question = questions[static_cast<std::size_t>(at)];
      const Number x = in[static_cast<std::size_t>(question.wire) * stride];
      at = question.next[x > question.above ? 1 : 0];
    }
    return static_cast<std::size_t>(~at);
  }
};

}  // namespace espalier
