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

// Questions and leaves are counted in the order in which they are read, those of a tree in one
// stretch.
TreeTiles::TreeTiles(const TreePlan& plan) : splits_(plan.questions), leaves_(plan.leaves) {
  std::ranges::sort(splits_, {}, key_of);
  const auto is_same = [](const TreeQuestion& a, const TreeQuestion& b) {
    return key_of(a) == key_of(b);
  };
  splits_.erase(std::unique(splits_.begin(), splits_.end(), is_same), splits_.end());
  std::size_t first_question = 0, first_leaf = 0;
  for (const std::size_t num_leaves : plan.leaves) {
    const std::size_t count = num_leaves - 1;
    for (std::size_t q = first_question; q < first_question + count; ++q) {
      const TreeQuestion& question = plan.questions[q];
      const auto at = std::ranges::lower_bound(splits_, key_of(question), {}, key_of);
      Fork fork{.answer = static_cast<std::uint32_t>(at - splits_.begin()), .to = {}};
      for (const int answer : {0, 1}) {
        const std::int32_t next = question.next[answer];
        fork.to[answer] = static_cast<std::uint32_t>(
            next >= 0 ? static_cast<std::size_t>(next) - first_question
                      : count + static_cast<std::size_t>(~next) - first_leaf);
      }
      forks_.push_back(fork);
    }
    first_question += count;
    first_leaf += num_leaves;
  }
}

void TreeTiles::run(const float* answers, const float* leaves, float* out) const noexcept {
  Answers rows[2 * kMaxLeaves];  // at each question, then at each leaf
  const Fork* fork = forks_.data();
  for (const std::size_t num_leaves : leaves_) {
    const std::size_t count = num_leaves - 1;
    rows[0] = ~Answers{0};
    for (std::size_t q = 0; q < count; ++q, ++fork) {
      Answers above;
      std::memcpy(&above, answers + 2 * fork->answer, sizeof above);
      rows[fork->to[0]] = rows[q] & ~above;
      rows[fork->to[1]] = rows[q] & above;
    }
    for (std::size_t leaf = 0; leaf < num_leaves; ++leaf) {
      for (Answers own = rows[count + leaf]; own != 0; own &= own - 1)
        out[std::countr_zero(own)] = leaves[leaf];
    }
    leaves += num_leaves;
    out += kTile;
  }
}

}  // namespace espalier
