// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <optional>

#include "serve/runners.h"

namespace espalier {

namespace {

// The rows of a tile by the code that they have on one wire, in two floats of scratch for each
// code.
class RowsByCode {
 public:
  RowsByCode(const float* in, float* scratch) : scratch_(scratch) {
    for (std::size_t r = 0; r < kTile; ++r) set(code_of(in[r]), 0);
    for (std::size_t r = 0; r < kTile; ++r) {
      const std::size_t code = code_of(in[r]);
      const Answers before = rows(code);
      if (before == 0) codes_[count_++] = code;
      set(code, before | Answers{1} << r);
    }
  }

  Answers of(const CategorySet& set) const {
    Answers answers = 0;
    for (std::size_t i = 0; i < count_; ++i)
      answers |= rows(codes_[i]) & (set.has(codes_[i]) ? ~Answers{0} : 0);
    return answers;
  }

 private:
  static std::size_t code_of(float cell) { return static_cast<std::size_t>(cell); }
  Answers rows(std::size_t code) const {
    Answers rows;
    std::memcpy(&rows, scratch_ + 2 * code, sizeof rows);
    return rows;
  }
  void set(std::size_t code, Answers rows) { std::memcpy(scratch_ + 2 * code, &rows, sizeof rows); }

  float* scratch_;
  std::size_t count_ = 0;
  std::size_t codes_[kTile];
};

}  // namespace

TreeRunner::TreeRunner(TreeStep step, std::vector<CategorySet> sets)
    : step_(std::move(step)), sets_(std::move(sets)), tiles_(step_.plan) {
  for (const TreeQuestion& question : tiles_.splits()) num_sets_asked_ += question.wire < 0 ? 1 : 0;
  for (const CategorySet& set : sets_) num_codes_ = std::max(num_codes_, set.num_codes);
}

// Questions about sets come first in asked(), those about the same column one after another.
void TreeRunner::find_words(const float* in, float* answers, float* scratch) const noexcept {
  std::optional<RowsByCode> by_code;
  const CategorySet* before = nullptr;
  for (std::size_t i = 0; i < num_sets_asked_; ++i, answers += 2) {
    const CategorySet& set = sets_[static_cast<std::size_t>(~tiles_.splits()[i].wire)];
    if (before == nullptr || before->wire != set.wire)
      by_code.emplace(in + set.wire * kTile, scratch);
    before = &set;
    const Answers own = by_code->of(set);
    std::memcpy(answers, &own, sizeof own);
  }
}

void TreeRunner::tile(const float* in, float* out, float* scratch) const noexcept {
  const std::size_t count = tiles_.splits().size();
  find_words(in, scratch, scratch + 2 * count);
  answers_of_tile(tiles_.splits().data() + num_sets_asked_, count - num_sets_asked_, in,
                  scratch + 2 * num_sets_asked_);
  tiles_.run(scratch, step_.leaves.data(), out);
}

void TreeRunner::row(const float* in, float* out, float*) const noexcept {
  for (std::size_t g = 0; g < step_.num_outputs(); ++g) {
    std::int32_t at = step_.plan.roots[g];
    while (at >= 0) {
      const TreeQuestion& question = step_.plan.questions[static_cast<std::size_t>(at)];
      bool is_above;
      if (question.wire >= 0) {
        is_above = in[question.wire] > question.above;
      } else {
        const CategorySet& set = sets_[static_cast<std::size_t>(~question.wire)];
        is_above = set.has(static_cast<std::size_t>(in[set.wire]));
      }
      at = question.next[is_above ? 1 : 0];
    }
    out[g] = step_.leaves[static_cast<std::size_t>(~at)];
  }
}

}  // namespace espalier
