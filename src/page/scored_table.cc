// SPDX-License-Identifier: Apache-2.0
#include "page/scored_table.h"

#include <algorithm>

#include "encode/roles.h"
#include "espalier/outputs.h"
#include "objective/label.h"
#include "objective/link.h"

namespace espalier {

namespace {

template <class Values>
Values picked(const Values& values, const Rows& indices, std::size_t width = 1) {
  Values result;
  if (values.empty()) return result;
  result.reserve(indices.size() * width);
  for (const std::uint64_t index : indices) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(index * width);
    result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return result;
}

}  // namespace

std::optional<ScoredTable> score_table(const Schema& schema, const Table& table,
                                       const std::vector<float>& scores) {
  const Label& label = schema.label;
  if (table.find(label.name) == nullptr) return std::nullopt;
  ScoredTable all{.label = label, .rows = labelled_rows(label, table)};
  if (all.rows.empty()) return std::nullopt;
  const auto copy = [](const auto& from, auto& to) { to.assign(from.begin(), from.end()); };
  copy(encode_labels(label, table, all.rows), all.labels);
  Dataset data;
  encode_beside(schema.beside, table, all.rows, data);
  copy(data.beside[Role::weight], all.weights);
  copy(data.beside[Role::exposure], all.exposures);
  all.scores = picked(scores, all.rows, label.num_scores());
  all.predictions = all.scores;
  const Link link = link_of(label);
  for (std::size_t i = 0; i < all.size(); ++i) {
    apply_link(link, static_cast<float>(label.unit), static_cast<float>(all.exposure(i)),
               {all.predictions.data() + i * label.num_scores(), label.num_scores()});
  }
  return all;
}

ScoredTable subset(const ScoredTable& all, const Rows& indices) {
  const std::size_t width = all.label.num_scores();
  return {.label = all.label,
          .rows = picked(all.rows, indices),
          .labels = picked(all.labels, indices),
          .scores = picked(all.scores, indices, width),
          .predictions = picked(all.predictions, indices, width),
          .weights = picked(all.weights, indices),
          .exposures = picked(all.exposures, indices)};
}

Comparison compare(const ScoredTable& all, std::size_t i) {
  const Label& label = all.label;
  const std::span<const float> own = all.prediction(i);
  const double weight = all.weight(i), seen = all.labels[i];
  if (label.has_log_link()) {
    const double exposure = all.exposure(i);
    return {own[0] / exposure, seen / exposure, weight * exposure};
  }
  if (label.ordered) return {expected_grade(own), seen + 1, weight};
  if (label.has_many_classes()) {
    const std::size_t best = predicted_class(label, own);
    return {own[best], seen == static_cast<double>(best) ? 1.0 : 0.0, weight};
  }
  return {own[label.num_scores() / 2], seen, weight};
}

MeanOf mean_compared(const Label& label) {
  const bool are_classes = label.task() == Task::classification && !label.ordered;
  return are_classes ? MeanOf::rates : MeanOf::numbers;
}

}  // namespace espalier
