// SPDX-License-Identifier: Apache-2.0
#include "boost/forest_network.h"

#include <algorithm>
#include <map>
#include <utility>

namespace espalier {

namespace {

// Where a question cuts what lies between two rows: near the middle, but where cells with few
// digits do not lie, which would be on either side by a rounding.
constexpr float kCut = 0.5147f;

// What a calibrator makes of its column.
struct Reading {
  std::size_t wire = 0;
  std::vector<float> table;  // as Calibrators has it

  auto operator<=>(const Reading&) const = default;
};

struct Question {
  Reading reading;
  float above = 0.5f;
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
    const float low = column.largest[right - 1] / last, high = column.least[right] / last;
    question.above = low + (high - low) * kCut;
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

Network network_of(const Forest& forest, const std::vector<Wire>& inputs,
                   MonotoneCalibrators calibrators) {
  Readings readings;
  LayerSpec trees{.kind = LayerKind::tree};
  std::vector<float> leaves;
  for (const Tree& tree : forest.trees) {
    const std::vector<TreeNode> nodes = nodes_of(tree, [&](const TreeSplit& split) {
      const ColumnBins& column = forest.columns[split.column];
      Question question = question_of(split, column, inputs[column.wire]);
      return TreeNode{readings.number_of(std::move(question.reading)), question.above};
    });
    trees.nodes.insert(trees.nodes.end(), nodes.begin(), nodes.end());
    leaves.insert(leaves.end(), tree.values.begin(), tree.values.end());
  }
  LayerSpec gather{.kind = LayerKind::gather};
  std::vector<float> params, constants;
  for (const Reading* reading : readings.in_order()) {
    gather.wires.push_back(static_cast<int>(reading->wire));
    params.insert(params.end(), reading->table.begin(), reading->table.end());
    constants.insert(constants.end(), {0, 1});
  }
  params.insert(params.end(), leaves.begin(), leaves.end());
  const LayerSpec cal{.kind = LayerKind::cal, .keypoints = 2};
  Network network({{gather, cal, std::move(trees), {.kind = LayerKind::sum}}}, inputs, calibrators,
                  Random(0));
  std::ranges::copy(params, network.params().begin());
  set_constants(constants, network);
  return network;
}

}  // namespace espalier
