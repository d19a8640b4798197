// SPDX-License-Identifier: Apache-2.0
#include "train/rotation.h"

#include <algorithm>
#include <numeric>

#include "core/random.h"
#include "train/rank_rows.h"
#include "train/streams.h"

namespace espalier {

Rotation::Rotation(const Problem& problem)
    : problem_(problem), order_(problem.valid.num_rows + problem.train.num_rows) {
  const std::uint64_t num_train = problem.train.num_rows;
  const auto num_valid = static_cast<std::ptrdiff_t>(problem.valid.num_rows);
  std::iota(order_.begin(), order_.begin() + num_valid, num_train);
  std::iota(order_.begin() + num_valid, order_.end(), std::uint64_t{0});
  Random(problem.options->seed)
      .split(kRotationStream)
      .shuffle(std::span(order_).subspan(problem.valid.num_rows));
}

Split Rotation::split(int member) const {
  const std::size_t count = problem_.valid.num_rows;
  return hold_out(order_, static_cast<std::size_t>(member - 1) * count, count);
}

void Rotation::append_cells(std::uint64_t row, Dataset& data) const {
  const bool from_train = row < problem_.train.num_rows;
  const Dataset& from = from_train ? problem_.train : problem_.valid;
  const std::size_t at = from_train ? row : row - problem_.train.num_rows;
  data.cells.insert(data.cells.end(), from.row(at), from.row(at + 1));
}

// All but the cells. Weights of the training rows balance the classes, those of the others do not.
void Rotation::append(std::uint64_t row, bool to_train, Dataset& data) const {
  const bool from_train = row < problem_.train.num_rows;
  const Dataset& from = from_train ? problem_.train : problem_.valid;
  const std::size_t at = from_train ? row : row - problem_.train.num_rows;
  data.labels.push_back(from.labels[at]);
  for (const Role role : kSideRoles) {
    const LargeVector<float>& cells = from.beside[role];
    if (!cells.empty()) data.beside[role].push_back(cells[at]);
  }
  const bool weighted = !problem_.train.weights().empty() || !problem_.valid.weights().empty();
  if (weighted) {
    LargeVector<float>& weights = data.beside[Role::weight];
    weights.resize(data.num_rows + 1, 1);
    const std::vector<float>& scales = problem_.class_scale;
    if (to_train != from_train && !scales.empty()) {
      const float scale = scales[static_cast<std::size_t>(from.labels[at])];
      weights.back() *= to_train ? scale : 1 / scale;
    }
  }
  ++data.num_rows;
}

// Some rows with those of their cells that this rank has. Validation rows, which all ranks have,
// come last and from the last rank.
Dataset Rotation::rows_of(const Rows& rows, bool to_train, Ranks* ranks) const {
  const Dataset& train = problem_.train;
  Dataset data{.num_features = train.num_features, .is_divided = train.is_divided};
  RowRange own = places_of(train.own_rows(), rows);
  if (!train.is_divided || ranks->rank() == ranks->size() - 1) own.end = rows.size();
  data.first = own.begin;
  data.cells.reserve(own.size() * data.num_features);
  for (std::uint64_t i = own.begin; i < own.end; ++i) append_cells(rows[i], data);
  for (const std::uint64_t row : rows) append(row, to_train, data);
  return data;
}

Problem Rotation::part(int member, Ranks* ranks) const {
  const Split rows = split(member);
  Problem part{.options = problem_.options,
               .architecture = problem_.architecture,
               .schema = problem_.schema,
               .train = rows_of(rows.train, true, ranks),
               .valid = rows_of(rows.valid, false, ranks),
               .validation = problem_.validation,
               .class_scale = problem_.class_scale,
               .open = problem_.open,
               .many_rows = problem_.many_rows};
  complete_cells(ranks, part.valid);
  divide_cells(problem_.options->batch_size, problem_.many_rows, ranks, part.train);
  return part;
}

void Rotation::add(int member, std::span<const float> outputs, OutOfFoldSums& sums) const {
  const Rows held = split(member).valid;
  const std::size_t num_scores = problem_.schema.label.num_scores();
  sums.sums.resize(order_.size() * num_scores);
  sums.counts.resize(order_.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    for (std::size_t s = 0; s < num_scores; ++s)
      sums.sums[held[i] * num_scores + s] += outputs[i * num_scores + s];
    ++sums.counts[held[i]];
  }
}

OutOfFoldRows Rotation::mean_of(const OutOfFoldSums& sums) const {
  const std::size_t num_scores = problem_.schema.label.num_scores();
  OutOfFoldRows mean;
  mean.rows.num_features = problem_.train.num_features;
  for (std::uint64_t row = 0; row < sums.counts.size(); ++row) {
    if (sums.counts[row] == 0) continue;
    append(row, false, mean.rows);
    for (std::size_t s = 0; s < num_scores; ++s)
      mean.outputs.push_back(sums.sums[row * num_scores + s] / sums.counts[row]);
  }
  return mean;
}

}  // namespace espalier
