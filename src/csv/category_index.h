// SPDX-License-Identifier: Apache-2.0
// Maps distinct strings to numbers from 0, in order of first appearance. Categorical columns need
// one lookup per value, so this is a flat hash table that compares strings only if their hashes are
// equal.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier {

class CategoryIndex {
 public:
  // The number of a string, which is added if it is new.
  std::int32_t index_of(std::string_view category) {
    if (2 * categories_.size() >= slots_.size()) grow();
    const auto hash = static_cast<std::uint32_t>(XXH3_64bits(category.data(), category.size()));
    std::size_t at = hash & (slots_.size() - 1);
    for (; slots_[at].index != kNone; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.hash == hash && categories_[static_cast<std::size_t>(slot.index)] == category)
        return slot.index;
    }
    slots_[at] = {hash, static_cast<std::int32_t>(categories_.size())};
    categories_.emplace_back(category);
    return slots_[at].index;
  }

  const std::vector<std::string>& categories() const { return categories_; }
  std::vector<std::string> take_categories() { return std::move(categories_); }

 private:
  static constexpr std::int32_t kNone = -1;
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t index = kNone;
  };

  void grow() {
    const std::vector<Slot> old =
        std::exchange(slots_, std::vector<Slot>(std::max<std::size_t>(16, 2 * slots_.size())));
    for (const Slot& slot : old) {
      if (slot.index == kNone) continue;
      std::size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].index != kNone) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<std::string> categories_;
  std::vector<Slot> slots_;  // a power of two, at most half of them in use
};

}  // namespace espalier
