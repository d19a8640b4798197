// SPDX-License-Identifier: Apache-2.0
#include "layers/tree_tiles.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace espalier {

namespace {

std::pair<std::int32_t, float> key_of(const TreeQuestion& question) {
  return {question.wire, question.above};
}

}  // namespace

// Questions and leaves are counted in the order in which they are read, those of a tree in one stretch.
TreeTiles::TreeTiles(const TreePlan& plan) : asked_(plan.questions) {
  std::ranges::sort(asked_, {}, key_of);
  const auto same = std::ranges::unique(asked_, {}, key_of);
  asked_.erase(same.begin(), same.end());
  std::size_t first_question = 0, first_leaf = 0;
  for (std::size_t g = 0; g < plan.roots.size(); ++g) {
    std::size_t count = 0;  // of the tree's questions: they begin at its root
    if (plan.roots[g] >= 0) {
      const auto later =
          std::find_if(plan.roots.begin() + static_cast<std::ptrdiff_t>(g) + 1, plan.roots.end(),
                       [](std::int32_t root) { return root >= 0; });
      const std::size_t end =
          later == plan.roots.end() ? plan.questions.size() : static_cast<std::size_t>(*later);
      count = end - first_question;
    }
    for (std::size_t q = first_question; q < first_question + count; ++q) {
      const TreeQuestion& question = plan.questions[q];
      const auto at = std::ranges::lower_bound(asked_, key_of(question), {}, key_of);
      Fork fork{.answer = static_cast<std::uint32_t>(at - asked_.begin()), .to = {}};
      for (const int answer : {0, 1}) {
        const std::int32_t next = question.next[answer];
        fork.to[answer] = static_cast<std::uint32_t>(
            next >= 0 ? static_cast<std::size_t>(next) - first_question
                      : count + static_cast<std::size_t>(~next) - first_leaf);
      }
      forks_.push_back(fork);
    }
    trees_.push_back({count, count + 1});
    first_question += count;
    first_leaf += count + 1;
  }
}

void TreeTiles::run(const float* answers, const float* leaves, float* out) const noexcept {
  Answers rows[2 * kMaxLeaves];  // at each question, then at each leaf
  const Fork* fork = forks_.data();
  for (const Tree& tree : trees_) {
    rows[0] = ~Answers{0};
    for (std::size_t q = 0; q < tree.forks; ++q, ++fork) {
      Answers above;
      std::memcpy(&above, answers + 2 * fork->answer, sizeof above);
      rows[fork->to[0]] = rows[q] & ~above;
      rows[fork->to[1]] = rows[q] & above;
    }
    for (std::size_t leaf = 0; leaf < tree.leaves; ++leaf) {
      for (Answers own = rows[tree.forks + leaf]; own != 0; own &= own - 1)
        out[std::countr_zero(own)] = leaves[leaf];
    }
    leaves += tree.leaves;
    out += kTile;
  }
}

}  // namespace espalier
