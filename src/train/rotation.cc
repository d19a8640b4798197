// SPDX-License-Identifier: Apache-2.0
#include "train/rotation.h"

#include <algorithm>
#include <numeric>

#include "core/random.h"
#include "model/model_data.h"
#include "objective/link.h"
#include "objective/metrics.h"
#include "train/streams.h"

namespace espalier {

Rotation::Rotation(const Prepared& prepared)
    : prepared_(prepared), order_(prepared.valid.num_rows + prepared.train.num_rows) {
  const std::uint64_t num_train = prepared.train.num_rows;
  const auto num_valid = static_cast<std::ptrdiff_t>(prepared.valid.num_rows);
  std::iota(order_.begin(), order_.begin() + num_valid, num_train);
  std::iota(order_.begin() + num_valid, order_.end(), std::uint64_t{0});
  Random(prepared.options->seed)
      .split(kRotationStream)
      .shuffle(std::span(order_).subspan(prepared.valid.num_rows));
  counts_.resize(order_.size());
}

Split Rotation::split(int network) const {
  const std::size_t count = prepared_.valid.num_rows;
  return hold_out(order_, static_cast<std::size_t>(network - 1) * count, count);
}

// Weights of the training rows balance the classes, those of the others do not.
void Rotation::append(std::uint64_t row, bool to_train, Dataset& data) const {
  const bool from_train = row < prepared_.train.num_rows;
  const Dataset& from = from_train ? prepared_.train : prepared_.valid;
  const std::size_t at = from_train ? row : row - prepared_.train.num_rows;
  data.cells.insert(data.cells.end(), from.row(at), from.row(at + 1));
  data.labels.push_back(from.labels[at]);
  for (const Role role : kSideRoles) {
    const LargeVector<float>& cells = from.beside[role];
    if (!cells.empty()) data.beside[role].push_back(cells[at]);
  }
  const bool weighted = !prepared_.train.weights().empty() || !prepared_.valid.weights().empty();
  if (weighted) {
    LargeVector<float>& weights = data.beside[Role::weight];
    weights.resize(data.num_rows + 1, 1);
    const std::vector<float>& scales = prepared_.class_scale;
    if (to_train != from_train && !scales.empty()) {
      const float scale = scales[static_cast<std::size_t>(from.labels[at])];
      weights.back() *= to_train ? scale : 1 / scale;
    }
  }
  ++data.num_rows;
}

Rotation::Part Rotation::part(int network) const {
  Part part;
  part.train.num_features = part.valid.num_features = prepared_.train.num_features;
  const Split rows = split(network);
  part.valid.cells.reserve(rows.valid.size() * part.valid.num_features);
  part.train.cells.reserve(rows.train.size() * part.train.num_features);
  for (const std::uint64_t row : rows.valid) append(row, false, part.valid);
  for (const std::uint64_t row : rows.train) append(row, true, part.train);
  return part;
}

void Rotation::judge(int network, const Network& trained, const Dataset& valid, Team& team) {
  const Label& label = prepared_.schema.label;
  const std::vector<float> outputs = network_outputs(trained, label, valid, team);
  const Rows held = split(network).valid;
  const std::size_t num_scores = label.num_scores();
  sums_.resize(order_.size() * num_scores);
  for (std::size_t i = 0; i < held.size(); ++i) {
    for (std::size_t s = 0; s < num_scores; ++s)
      sums_[held[i] * num_scores + s] += outputs[i * num_scores + s];
    ++counts_[held[i]];
  }
}

Rotation::Judged Rotation::judged(const Label& label) const {
  const std::size_t num_scores = label.num_scores();
  Judged judged;
  judged.rows.num_features = prepared_.train.num_features;
  for (std::uint64_t row = 0; row < order_.size(); ++row) {
    if (counts_[row] == 0) continue;
    append(row, false, judged.rows);
    const double offset = judged.rows.offset(judged.rows.num_rows - 1);
    for (std::size_t s = 0; s < num_scores; ++s)
      judged.scores.push_back(
          score_of(label, s, sums_[row * num_scores + s] / counts_[row], offset));
  }
  return judged;
}

}  // namespace espalier
