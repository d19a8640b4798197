// SPDX-License-Identifier: Apache-2.0
#include "serve/lane_order.h"

#include <algorithm>

namespace espalier {

namespace {

using Order = std::vector<std::size_t>;  // wire i of the new order is wire order[i] of the old one

// An input that does not reach an output gets the weight 0 there. That can turn a sum of -0 into 0,
// which no calibrator tells apart: its position is 0 in both, and its table is never 0.
LinearStep in_order(const LinearStep& step, const Order& order) {
  LinearStep moved;
  for (const std::size_t from : order) moved.bias.push_back(step.bias[from]);
  const std::size_t stride = padded(step.category_width), moved_stride = padded(order.size());
  moved.category_begin = step.categories.empty() ? order.size() : 0;
  moved.category_width = step.categories.empty() ? 0 : order.size();
  for (const LinearStep::Category& category : step.categories) {
    const std::size_t num_rows = category.rows.size() / stride;
    moved.categories.push_back({category.wire, AlignedFloats(num_rows * moved_stride)});
    LinearStep::Category& own = moved.categories.back();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t from = order[i] - step.category_begin;  // wraps round below it
      for (std::size_t r = 0; from < step.category_width && r < num_rows; ++r)
        own.rows[r * moved_stride + i] = category.rows[r * stride + from];
    }
  }
  for (const LinearStep::Number& number : step.numbers) {
    moved.numbers.push_back({number.wire, 0, order.size(), moved.weights.size()});
    for (const std::size_t from : order) {
      const bool reaches = from >= number.begin && from < number.end;
      moved.weights.push_back(reaches ? step.weights[number.weights + from - number.begin] : 0);
    }
    moved.weights.resize(padded(moved.weights.size()));
  }
  return moved;
}

CalibratorStep in_order(const CalibratorStep& step, const Order& order) {
  CalibratorStep moved{.num_units = order.size(), .keypoints = step.keypoints};
  const auto keypoints = static_cast<std::size_t>(step.keypoints);
  for (const auto array : {&CalibratorStep::lo, &CalibratorStep::inverse_step, &CalibratorStep::low,
                           &CalibratorStep::range}) {
    for (const std::size_t from : order) (moved.*array).push_back((step.*array)[from]);
    (moved.*array).resize(padded(order.size()));
  }
  for (const std::size_t from : order) {
    const float* table = step.tables.data() + from * keypoints;
    moved.tables.insert(moved.tables.end(), table, table + keypoints);
  }
  moved.tables.resize(padded(order.size()) * keypoints);
  return moved;
}

// Wires of the gather in the order of lanes; the last lattice fills up the last block.
Order lane_order(const GatherStep& gather, std::size_t num_lattices, std::size_t size) {
  Order order(padded(num_lattices) * size);
  for (std::size_t g = 0; g < padded(num_lattices); ++g) {
    for (std::size_t d = 0; d < size; ++d)
      order[lane_place(g, d, size)] = gather.wires[std::min(g, num_lattices - 1) * size + d];
  }
  return order;
}

// Whether it was `lin cal gather lat` at steps[0 .. 3].
bool reorder(Step* steps) {
  auto* linear = std::get_if<LinearStep>(&steps[0]);
  auto* calibrators = std::get_if<CalibratorStep>(&steps[1]);
  auto* gather = std::get_if<GatherStep>(&steps[2]);
  const auto* lattices = std::get_if<LatticeStep>(&steps[3]);
  if (!linear || !calibrators || !gather || !lattices) return false;
  const std::size_t num_lattices = lattices->num_outputs();
  if (lattices->interpolation != Interpolation::multilinear || num_lattices < 16) return false;
  const auto size = static_cast<std::size_t>(lattices->size);
  const Order order = lane_order(*gather, num_lattices, size);
  *linear = in_order(*linear, order);
  *calibrators = in_order(*calibrators, order);
  for (std::size_t g = 0; g < num_lattices; ++g) {
    for (std::size_t d = 0; d < size; ++d) gather->wires[g * size + d] = lane_place(g, d, size);
  }
  return true;
}

}  // namespace

std::optional<std::vector<Step>> in_lane_order(const std::vector<Step>& steps) {
  std::vector<Step> moved = steps;
  bool any = false;
  for (std::size_t i = 0; i + 4 <= moved.size(); ++i) any |= reorder(&moved[i]);
  if (!any) return std::nullopt;
  return moved;
}

}  // namespace espalier
