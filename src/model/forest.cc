// SPDX-License-Identifier: Apache-2.0
#include "model/forest.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "core/float_rank.h"
#include "encode/encode.h"
#include "layers/cell_table.h"
#include "model/visit_layer.h"

namespace espalier {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Where a question of an old tree sends rows.
struct Answer {
  enum class Kind { never, always, by_value };  // "above", for every row or for some
  Kind kind = Kind::by_value;
  bool swapped = false;  // rows that were above go left
  DecisionSplit split;
};

// Turns the questions of one network into splits, each once.
class Questions {
 public:
  Questions(const Network& network, const Schema& schema, DecisionForest& forest)
      : schema_(schema),
        forest_(forest),
        wires_(visit_layer(network, 0,
                           Overloaded{[](const Gather& own) { return own.wires(); },
                                      [](const auto&) { return std::vector<int>(); }})),
        cells_(visit_layer(network, 1,
                           Overloaded{[&](const Calibrators& own) {
                                        return cell_tables(own, network.layer_params(1));
                                      },
                                      [](const auto&) { return std::vector<CellTable>(); }})) {}

  // Null if no split gives the same answers.
  const Answer* answer(int wire, float above) {
    const auto [at, is_new] = answers_.try_emplace({wire, above});
    if (is_new)
      at->second = find(cells_[static_cast<std::size_t>(wire)],
                        static_cast<std::size_t>(wires_[static_cast<std::size_t>(wire)]), above);
    return at->second ? &*at->second : nullptr;
  }

 private:
  std::optional<Answer> find(const CellTable& cell, std::size_t input, float above) {
    const std::vector<Feature>& features = schema_.features;
    const auto is_above = [&](float encoded) { return through(cell, encoded) > above; };
    if (input >= features.size() + schema_.pairs.size()) return of_level(cell, is_above);
    if (input >= features.size() || cell.kind == CellTable::Kind::pass) return std::nullopt;
    const Feature& feature = features[input];
    const auto encoded_is_above = [&](float value) {
      return is_above(encode_cell(feature, value));
    };
    std::optional<Answer> answer = feature.kind == FeatureKind::category
                                       ? of_category(num_own_categories(feature) + 1, is_above)
                                       : of_number(feature.keypoints, encoded_is_above(NAN),
                                                   is_rising(cell), encoded_is_above);
    if (answer) answer->split.feature = static_cast<std::uint32_t>(input);
    return answer;
  }

  template <class IsAbove>
  std::optional<Answer> of_level(const CellTable& cell, const IsAbove& is_above) {
    std::vector<float> levels;
    for (std::size_t l = 0; l < schema_.label.num_levels(); ++l)
      levels.push_back(static_cast<float>(l));
    std::optional<Answer> answer = of_number(levels, is_above(0), is_rising(cell), is_above);
    if (answer) answer->split.feature = static_cast<std::uint32_t>(schema_.features.size());
    return answer;
  }

  static bool is_rising(const CellTable& cell) {
    return std::is_sorted(cell.table.begin(), cell.table.begin() + cell.keypoints);
  }

  // Between two ends the answer changes once at most, and beyond the outer ones not at all; if the
  // table rises, it changes once in all.
  template <class IsAbove>
  static std::optional<Answer> of_number(std::span<const float> ends, bool missing, bool rises,
                                         const IsAbove& is_above) {
    const bool first = is_above(ends.front());
    const auto has_changed = [&](float end) { return is_above(end) != first; };
    const auto change =
        rises ? std::partition_point(ends.begin(), ends.end(), std::not_fn(has_changed))
              : std::find_if(ends.begin(), ends.end(), has_changed);
    if (!rises && !std::all_of(change, ends.end(), has_changed)) return std::nullopt;
    Answer answer;
    if (change == ends.end()) {
      if (missing == first) {
        answer.kind = first ? Answer::Kind::always : Answer::Kind::never;
        return answer;
      }
      answer.split.threshold = -kInfinity;
      answer.swapped = !first;
      return answer;
    }
    std::int64_t low = rank_of(change[-1]), high = rank_of(*change);
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (is_above(of_rank(middle)) == first ? low : high) = middle;
    }
    answer.split.threshold = of_rank(high);
    answer.swapped = first;
    answer.split.missing_right = missing != first;
    return answer;
  }

  template <class IsAbove>
  std::optional<Answer> of_category(std::size_t num_codes, const IsAbove& is_above) {
    std::vector<std::uint32_t> set(words_of_set(num_codes));
    std::size_t size = 0;
    for (std::size_t code = 0; code < num_codes; ++code) {
      if (!is_above(static_cast<float>(code))) continue;
      set[code / 32] |= std::uint32_t{1} << code % 32;
      ++size;
    }
    Answer answer;
    if (size == 0 || size == num_codes) {
      answer.kind = size == 0 ? Answer::Kind::never : Answer::Kind::always;
      return answer;
    }
    const auto [at, is_new] =
        sets_.try_emplace(std::move(set), static_cast<std::uint32_t>(forest_.sets.size()));
    if (is_new) forest_.sets.insert(forest_.sets.end(), at->first.begin(), at->first.end());
    answer.split.set = at->second;
    return answer;
  }

  const Schema& schema_;
  DecisionForest& forest_;
  std::vector<int> wires_;
  std::vector<CellTable> cells_;
  std::map<std::pair<int, float>, std::optional<Answer>> answers_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> sets_;
};

// One tree of a plan as splits. `at` is a question or a leaf of the plan, as TreePlan::roots has
// it.
class TreeConverter {
 public:
  TreeConverter(const TreePlan& plan, const float* leaves, Questions& questions)
      : plan_(plan), leaves_(leaves), questions_(questions) {}

  std::optional<DecisionTree> convert(std::int32_t root) {
    tree_ = {};
    if (!add(root)) return std::nullopt;
    return std::move(tree_);
  }

 private:
  // What stands for it in DecisionSplit::next.
  std::optional<std::int32_t> add(std::int32_t at) {
    if (at < 0) {
      tree_.leaves.push_back(leaves_[~at]);
      return ~static_cast<std::int32_t>(tree_.leaves.size() - 1);
    }
    const TreeQuestion& question = plan_.questions[static_cast<std::size_t>(at)];
    const Answer* const answer = questions_.answer(question.wire, question.above);
    if (answer == nullptr) return std::nullopt;
    if (answer->kind != Answer::Kind::by_value)
      return add(question.next[answer->kind == Answer::Kind::always ? 1 : 0]);
    const std::size_t own = tree_.splits.size();
    tree_.splits.push_back(answer->split);
    for (const std::size_t side : {0, 1}) {
      const auto next = add(question.next[answer->swapped ? 1 - side : side]);
      if (!next) return std::nullopt;
      tree_.splits[own].next[side] = *next;
    }
    return static_cast<std::int32_t>(own);
  }

  const TreePlan& plan_;
  const float* leaves_;
  Questions& questions_;
  DecisionTree tree_;
};

}  // namespace

bool goes_right(const DecisionForest& forest, const DecisionSplit& split, const Feature* feature,
                float value) {
  if (feature != nullptr && feature->kind == FeatureKind::category)
    return forest.has(split.set, static_cast<std::size_t>(value));
  return std::isnan(value) ? split.missing_right : value >= split.threshold;
}

float threshold_above(const Feature& feature, float position) {
  const bool falls = feature.monotonicity == Monotonicity::decreasing;
  std::int64_t low = rank_of(feature.keypoints.front()), high = rank_of(feature.keypoints.back());
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    const bool is_above = encode_cell(feature, of_rank(middle)) > position;
    (is_above != falls ? high : low) = middle;
  }
  return of_rank(high);
}

float evaluate(const DecisionForest& forest, const Schema& schema, std::span<const float> cells,
               std::size_t level) {
  const std::size_t num_features = schema.features.size();
  std::vector<float> values;
  for (std::size_t f = 0; f < num_features; ++f) {
    const bool is_category = schema.features[f].kind == FeatureKind::category;
    values.push_back(is_category ? encode_cell(schema.features[f], cells[f]) : cells[f]);
  }
  values.push_back(static_cast<float>(schema.label.level_position(level)));
  float sum = 0;
  for (const DecisionTree& tree : forest.trees) {
    std::int32_t at = tree.splits.empty() ? ~0 : 0;
    while (at >= 0) {
      const DecisionSplit& split = tree.splits[static_cast<std::size_t>(at)];
      const Feature* const feature =
          split.feature < num_features ? &schema.features[split.feature] : nullptr;
      at = split.next[goes_right(forest, split, feature, values[split.feature]) ? 1 : 0];
    }
    sum += tree.leaves[static_cast<std::size_t>(~at)];
  }
  return sum;
}

std::optional<DecisionForest> forest_of(const Network& network, const Schema& schema) {
  using enum LayerKind;
  constexpr LayerKind kForest[] = {gather, cal, tree, sum};
  if (!std::ranges::equal(network.architecture().layers, kForest, {}, &LayerSpec::kind))
    return std::nullopt;
  DecisionForest forest;
  Questions questions(network, schema, forest);
  const TreePlan plan(network.architecture().layers[2].nodes);
  TreeConverter converter(plan, network.layer_params(2), questions);
  for (const std::int32_t root : plan.roots) {
    auto own = converter.convert(root);
    if (!own) return std::nullopt;
    forest.trees.push_back(std::move(*own));
  }
  return forest;
}

}  // namespace espalier
