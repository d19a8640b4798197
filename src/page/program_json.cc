// SPDX-License-Identifier: Apache-2.0
#include "page/program_json.h"

#include <bit>

#include "page/text.h"

namespace espalier {

namespace {

std::int32_t whole(std::size_t number) { return static_cast<std::int32_t>(number); }

// The first `count` numbers, without padding.
std::string first(const AlignedFloats& numbers, std::size_t count) {
  return base64(std::span<const float>(numbers.data(), count));
}

Json to_json(const NumberCell& cell) {
  return {{"keypoints", base64(cell.keypoints)},
          {"turned", cell.reversed},
          {"missing", static_cast<double>(cell.missing)}};
}

Json to_json(const CategoryCell& cell) {
  return {{"num_words", cell.num_categories}, {"missing", cell.missing}};
}

Json to_json(const PairCell& pair) {
  return {{"first", pair.first},
          {"second", pair.second},
          {"first_edges", base64(pair.first_edges)},
          {"second_edges", base64(pair.second_edges)},
          {"codes", base64(pair.codes)}};
}

Json to_json(const CellTable& cell) {
  if (cell.kind == CellTable::Kind::pass) return nullptr;
  return {{"keypoints", cell.kind == CellTable::Kind::position ? cell.keypoints : 0},
          {"table", base64(cell.table)},
          {"back", base64(std::vector<float>{cell.back.low, cell.back.range})},
          {"rows", cell.rows},
          {"columns", cell.columns},
          {"steps", cell.steps}};
}

Json to_json(const CellStep& step) {
  Json cells = Json::array();
  for (const CellTable& cell : step.cells) cells.push_back(to_json(cell));
  return {{"step", "cells"}, {"cells", cells}};
}

Json to_json(const CalibratorStep& step) {
  const std::size_t units = step.num_units;
  return {{"step", "calibrators"},
          {"keypoints", step.keypoints},
          {"lo", first(step.lo, units)},
          {"inverse_step", first(step.inverse_step, units)},
          {"tables", first(step.tables, units * static_cast<std::size_t>(step.keypoints))},
          {"low", first(step.low, units)},
          {"range", first(step.range, units)}};
}

Json to_json(const LinearStep& step) {
  Json categories = Json::array();
  for (const LinearStep::Category& category : step.categories) {
    const std::size_t stride = padded(step.category_width);
    std::vector<float> rows;  // [categories, then unseen][category_width]
    for (std::size_t begin = 0; stride > 0 && begin < category.rows.size(); begin += stride) {
      const float* row = category.rows.data() + begin;
      rows.insert(rows.end(), row, row + step.category_width);
    }
    categories.push_back({{"wire", category.wire}, {"rows", base64(rows)}});
  }
  std::vector<std::int32_t> numbers;  // [number][wire, begin, end, weights]
  for (const LinearStep::Number& number : step.numbers) {
    for (const std::size_t entry : {number.wire, number.begin, number.end, number.weights})
      numbers.push_back(whole(entry));
  }
  return {{"step", "linear"},
          {"bias", first(step.bias, step.bias.size())},
          {"category_begin", step.category_begin},
          {"category_width", step.category_width},
          {"categories", categories},
          {"numbers", base64(numbers)},
          {"weights", first(step.weights, step.weights.size())}};
}

Json to_json(const LatticeStep& step) {
  std::vector<float> backs;  // [lattice][low, range]
  for (const WayBack& back : step.backs) {
    backs.push_back(back.low);
    backs.push_back(back.range);
  }
  return {{"step", "lattices"},
          {"size", step.size},
          {"simplex", step.interpolation == Interpolation::simplex},
          {"tables", base64(step.tables)},
          {"backs", base64(backs)}};
}

Json to_json(const GatherStep& step) {
  std::vector<std::int32_t> wires;
  for (const std::size_t wire : step.wires) wires.push_back(whole(wire));
  return {{"step", "gather"}, {"wires", base64(wires)}};
}

Json to_json(const SumStep&) { return {{"step", "sum"}}; }

Json to_json(const MinMaxStep& step) {
  return {{"step", "min_max"}, {"groups", step.groups}, {"size", step.size}};
}

Json to_json(const ReluStep&) { return {{"step", "relu"}}; }

Json to_json(const TreeStep& step) {
  std::vector<std::int32_t> questions;  // [question][wire, next if not above, next if above]
  std::vector<float> above;
  for (const TreeQuestion& question : step.plan.questions) {
    questions.insert(questions.end(), {question.wire, question.next[0], question.next[1]});
    above.push_back(question.above);
  }
  return {{"step", "trees"},
          {"questions", base64(questions)},
          {"above", base64(above)},
          {"roots", base64(step.plan.roots)},
          {"leaves", base64(step.leaves)}};
}

// splits: [split][4 * input + 2 of a category or 1 of a number whose missing values go right,
// threshold or begin of the set, left, right]; sizes: splits of each tree.
Json to_json(const ForestStep& step) {
  std::vector<std::int32_t> splits, sizes;
  std::vector<float> leaves;
  for (const DecisionTree& tree : step.forest.trees) {
    for (const DecisionSplit& split : tree.splits) {
      const bool is_category = step.inputs[split.feature].num_codes > 0;
      const std::int32_t kind = is_category ? 2 : split.missing_right ? 1 : 0;
      const auto where = is_category ? static_cast<std::int32_t>(split.set)
                                     : std::bit_cast<std::int32_t>(split.threshold);
      splits.insert(splits.end(), {static_cast<std::int32_t>(4 * split.feature) + kind, where,
                                   split.next[0], split.next[1]});
    }
    sizes.push_back(whole(tree.splits.size()));
    leaves.insert(leaves.end(), tree.leaves.begin(), tree.leaves.end());
  }
  const std::vector<std::int32_t> sets(step.forest.sets.begin(), step.forest.sets.end());
  return {{"step", "forest"},
          {"splits", base64(splits)},
          {"sizes", base64(sizes)},
          {"leaves", base64(leaves)},
          {"sets", base64(sets)}};
}

const char* word_of(Link link) {
  switch (link) {
    case Link::identity:
      break;
    case Link::sigmoid:
      return "sigmoid";
    case Link::exponential:
      return "exponential";
    case Link::softmax:
      return "softmax";
    case Link::promised_softmax:
      return "promised_softmax";
  }
  return "identity";
}

template <class Items>
Json list_of(const Items& items) {
  Json list = Json::array();
  for (const auto& item : items) {
    if constexpr (requires { to_json(item); }) {
      list.push_back(to_json(item));
    } else {
      list.push_back(std::visit([](const auto& own) { return to_json(own); }, item));
    }
  }
  return list;
}

}  // namespace

Json json_of(const Program& program) {
  Json members = Json::array();
  for (const std::vector<Step>& steps : program.members) members.push_back(list_of(steps));
  Json scores = Json::array();
  for (const ScoreUnits& units : program.scores)
    scores.push_back({{"offset", units.offset}, {"scale", units.scale}});
  return {{"cells", list_of(program.cells)},
          {"pairs", list_of(program.pairs)},
          {"members", members},
          {"weights", base64(program.weights)},
          {"levels", base64(program.levels)},
          {"scores", scores},
          {"link", word_of(program.link)},
          {"unit", static_cast<double>(program.unit)},
          {"has_exposure", program.has_exposure},
          {"has_offset", program.has_offset}};
}

}  // namespace espalier
