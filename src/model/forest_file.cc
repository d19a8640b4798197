// SPDX-License-Identifier: Apache-2.0
#include "model/forest_file.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/float_rank.h"
#include "encode/encode.h"

namespace espalier {

namespace {

constexpr std::uint32_t kSideBits = 3;  // a bit for each side that is a split
constexpr std::uint32_t kMissingRight = 4;
constexpr int kFeatureShift = 3;

bool is_category(const Schema& schema, std::uint32_t feature) {
  return feature < schema.features.size() && schema.features[feature].kind == FeatureKind::category;
}

class ForestReader {
 public:
  ForestReader(Reader& reader, const Schema& schema) : reader_(reader), schema_(schema) {}

  DecisionForest read() {
    const auto words = reader_.get<std::uint64_t>("sets of a forest");
    forest_.sets =
        numbers_of<std::uint32_t>(reader_.take(checked_bytes(words), "sets of a forest"));
    const auto trees = reader_.get<std::uint64_t>("trees of a forest");
    for (std::uint64_t t = 0; t < trees; ++t) read_tree();
    if (trees == 0) reader_.fail("a forest without trees");
    return std::move(forest_);
  }

 private:
  std::uint64_t checked_bytes(std::uint64_t words) const {
    if (words > reader_.left() / sizeof(std::uint32_t)) reader_.fail("it ends within a forest");
    return words * sizeof(std::uint32_t);
  }

  [[noreturn]] void fail(const std::string& what) const {
    reader_.fail(fmt::format("tree {} of a forest: {}", forest_.trees.size(), what));
  }

  void read_tree() {
    DecisionTree& tree = forest_.trees.emplace_back();
    const auto splits = reader_.get<std::uint32_t>("splits of a tree");
    if (splits >= kMaxTreeLeaves) {
      fail(fmt::format("{} leaves, at most {} are allowed", std::uint64_t{splits} + 1,
                       kMaxTreeLeaves));
    }
    struct Side {
      std::size_t split;
      std::size_t side;
      bool is_split;
    };
    std::vector<Side> open;  // sides of splits behind which nothing stands yet
    std::int32_t leaf = 0;
    // The next split stands behind the last open side; leaves before it are counted.
    const auto close_leaves = [&] {
      while (!open.empty() && !open.back().is_split) {
        tree.splits[open.back().split].next[open.back().side] = ~leaf++;
        open.pop_back();
      }
    };
    for (std::uint32_t s = 0; s < splits; ++s) {
      if (s > 0) {
        if (open.empty()) fail("splits behind its end");
        tree.splits[open.back().split].next[open.back().side] = static_cast<std::int32_t>(s);
        open.pop_back();
      }
      const std::uint32_t sides = read_split(tree);
      open.push_back({s, 1, (sides & 2) != 0});
      open.push_back({s, 0, (sides & 1) != 0});
      close_leaves();
    }
    if (!open.empty()) fail("it ends too early");
    const std::uint64_t leaves = std::uint64_t{splits} + 1;
    tree.leaves = numbers_of<float>(reader_.take(leaves * sizeof(float), "leaf values of a tree"));
  }

  // Returns which sides are splits.
  std::uint32_t read_split(DecisionTree& tree) {
    const auto head = reader_.get<std::uint32_t>("splits of a tree");
    const auto value = reader_.get<std::uint32_t>("splits of a tree");
    DecisionSplit& split = tree.splits.emplace_back();
    split.feature = head >> kFeatureShift;
    split.missing_right = (head & kMissingRight) != 0;
    const std::size_t features = schema_.features.size();
    if (split.feature > features || (split.feature == features && schema_.label.num_levels() < 2))
      fail(fmt::format("no feature {}", split.feature));
    if (is_category(schema_, split.feature)) {
      split.set = value;
      check_set(split);
    } else {
      split.threshold = std::bit_cast<float>(value);
      check_threshold(split);
    }
    return head & kSideBits;
  }

  void check_set(const DecisionSplit& split) const {
    const std::size_t codes = num_own_categories(schema_.features[split.feature]) + 1;
    const std::size_t words = words_of_set(codes);
    if (words > forest_.sets.size() || split.set > forest_.sets.size() - words)
      fail("a set of categories that is not there");
    if (codes % 32 > 0 && forest_.sets[split.set + words - 1] >> codes % 32 != 0)
      fail("a set with more categories than there are");
    if (split.missing_right) fail("a split on categories that sends missing values right");
  }

  // Encoded values tell both sides of it apart, with missing values where they are encoded.
  void check_threshold(const DecisionSplit& split) const {
    if (split.feature == schema_.features.size()) {
      const auto last = static_cast<float>(schema_.label.num_levels() - 1);
      if (!(split.threshold > 0 && split.threshold <= last) || split.missing_right)
        fail("a threshold that no level reaches");
      return;
    }
    const Feature& feature = schema_.features[split.feature];
    if (split.threshold != -std::numeric_limits<float>::infinity()) {
      const bool is_inside = split.threshold > feature.keypoints.front() &&
                             split.threshold <= feature.keypoints.back();
      if (!is_inside || encode_number(feature, split.threshold) ==
                            encode_number(feature, of_rank(rank_of(split.threshold) - 1)))
        fail(fmt::format("a threshold of '{}' that divides no encoded values", feature.name));
    }
    if (!feature.learns_missing && split.missing_right != (feature.typical >= split.threshold))
      fail(fmt::format("missing values of '{}' do not go where the typical value goes",
                       feature.name));
  }

  Reader& reader_;
  const Schema& schema_;
  DecisionForest forest_;
};

}  // namespace

void put_forest(std::string& out, const DecisionForest& forest, const Schema& schema) {
  put(out, static_cast<std::uint64_t>(forest.sets.size()));
  out.append(raw_bytes(std::span<const std::uint32_t>(forest.sets)));
  put(out, static_cast<std::uint64_t>(forest.trees.size()));
  for (const DecisionTree& tree : forest.trees) {
    put(out, static_cast<std::uint32_t>(tree.splits.size()));
    for (const DecisionSplit& split : tree.splits) {
      std::uint32_t head = split.feature << kFeatureShift;
      if (split.missing_right) head |= kMissingRight;
      for (const std::uint32_t side : {0u, 1u}) head |= split.next[side] >= 0 ? 1u << side : 0u;
      put(out, head);
      put(out, is_category(schema, split.feature) ? split.set
                                                  : std::bit_cast<std::uint32_t>(split.threshold));
    }
    out.append(raw_bytes(std::span<const float>(tree.leaves)));
  }
}

DecisionForest read_forest(Reader& reader, const Schema& schema) {
  return ForestReader(reader, schema).read();
}

}  // namespace espalier
