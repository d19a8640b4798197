// SPDX-License-Identifier: Apache-2.0
#include "boost/forest_network.h"

#include <algorithm>
#include <map>
#include <utility>

namespace espalier {

namespace {

// A step is at least this wide, in shares of the range of its column: steps are served in floats.
constexpr float kNarrowest = 0x1p-21f;

// The middle half of what lies between the answers 0 and 1, so that the rows at its ends, whose
// places are rounded, have whole answers.
Range step_between(float low, float high) {
  const float middle = low + (high - low) / 2, width = std::max((high - low) / 2, kNarrowest);
  return {middle - width / 2, middle + width / 2};
}

// What a first calibrator makes of its column.
struct Reading {
  std::size_t wire = 0;
  std::vector<float> table;  // as Calibrators has it

  auto operator<=>(const Reading&) const = default;
};

struct Question {
  Reading reading;
  Range step{0, 1};
};

Question question_of(const TreeSplit& split, const ColumnBins& column, const Wire& wire) {
  Question question{.reading = {.wire = column.wire, .table = {}}};
  std::vector<float>& table = question.reading.table;
  if (column.is_category) {
    for (std::size_t code = 0; code + 1 < column.of_code.size(); ++code)
      table.push_back(split.right[column.of_code[code]]);
    return question;
  }
  const auto last = static_cast<float>(wire.keypoints - 1);
  const float missing = split.right[0];
  const auto values = split.right.begin() + static_cast<std::ptrdiff_t>(column.first_value());
  const auto right =
      static_cast<std::size_t>(std::find(values, split.right.end(), 1) - split.right.begin());
  if (right == column.first_value()) {  // all that are not missing
    table.assign(static_cast<std::size_t>(wire.keypoints), 1.0f);
  } else {
    for (int k = 0; k < wire.keypoints; ++k) table.push_back(static_cast<float>(k) / last);
    question.step = step_between(column.largest[right - 1] / last, column.least[right] / last);
  }
  if (wire.learns_missing) table.push_back(missing);
  return question;
}

// Numbers the readings as they come.
class Readings {
 public:
  int number_of(Reading reading) {
    const auto [at, is_new] =
        numbers_.emplace(std::move(reading), static_cast<int>(in_order_.size()));
    if (is_new) in_order_.push_back(&at->first);
    return at->second;
  }
  const std::vector<const Reading*>& in_order() const { return in_order_; }

 private:
  std::map<Reading, int> numbers_;
  std::vector<const Reading*> in_order_;
};

}  // namespace

Network network_of(const Forest& forest, const std::vector<Wire>& inputs, int depth,
                   MonotoneCalibrators calibrators) {
  Readings readings;
  LayerSpec second{.kind = LayerKind::gather};
  std::vector<float> steps, leaves;
  const auto num_leaves = std::size_t{1} << depth;
  for (const Tree& tree : forest.trees) {
    for (int d = 0; d < depth; ++d) {
      // A tree with fewer questions does not heed the answers to the rest.
      const TreeSplit& split =
          tree.splits[std::min(static_cast<std::size_t>(d), tree.splits.size() - 1)];
      const ColumnBins& column = forest.columns[split.column];
      Question question = question_of(split, column, inputs[column.wire]);
      steps.insert(steps.end(), {question.step.lo, question.step.hi});
      second.wires.push_back(readings.number_of(std::move(question.reading)));
    }
    for (std::size_t v = 0; v < num_leaves; ++v)
      leaves.push_back(tree.leaves[v % tree.leaves.size()]);
  }
  LayerSpec first{.kind = LayerKind::gather};
  std::vector<float> params, constants;
  for (const Reading* reading : readings.in_order()) {
    first.wires.push_back(static_cast<int>(reading->wire));
    params.insert(params.end(), reading->table.begin(), reading->table.end());
    constants.insert(constants.end(), {0, 1});
  }
  for (std::size_t i = 0; i < second.wires.size(); ++i) params.insert(params.end(), {0, 1});
  params.insert(params.end(), leaves.begin(), leaves.end());
  constants.insert(constants.end(), steps.begin(), steps.end());

  const LayerSpec cal{.kind = LayerKind::cal, .keypoints = 2};
  const LayerSpec lat{
      .kind = LayerKind::lat, .groups = static_cast<int>(forest.trees.size()), .group_size = depth};
  Network network({{first, cal, second, cal, lat, {.kind = LayerKind::sum}}}, inputs, calibrators,
                  Random(0));
  std::ranges::copy(params, network.params().begin());
  set_constants(constants, network);
  return network;
}

}  // namespace espalier
