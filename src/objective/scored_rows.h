// SPDX-License-Identifier: Apache-2.0
// Rows with scores, for the formulas of metrics.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "espalier/metrics.h"

namespace espalier {

// One row: label, scores, weight and exposure.
struct ScoredRow {
  double label;
  const float* scores;
  double weight;
  double exposure;
};

struct ScoredView {
  const Label& label;
  const ScoredRows& rows;

  std::size_t size() const { return rows.labels.size(); }
  ScoredRow operator[](std::size_t i) const {
    return {rows.labels[i], rows.scores.data() + i * label.num_scores(),
            rows.weights.empty() ? 1.0 : rows.weights[i],
            rows.exposures.empty() ? 1.0 : rows.exposures[i]};
  }
};

// sum_i w_i loss(row_i) / sum_i w_i; NaN (0 / 0) if all weights are 0.
template <class Loss>
double weighted_mean(const ScoredView& rows, const Loss& loss) {
  double sum = 0, total = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ScoredRow row = rows[i];
    sum += row.weight * loss(row);
    total += row.weight;
  }
  return sum / total;
}

// Two sums over rows with equal scores.
struct Tie {
  double first = 0;
  double second = 0;
};

// Groups of equal scores in increasing order, for labels with one score; empty if a score is NaN.
template <class Share>
std::vector<Tie> ties_of(const ScoredView& rows, const Share& share_of) {
  struct Scored {
    float score;
    Tie share;
  };
  std::vector<Scored> sorted(rows.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sorted[i] = {rows[i].scores[0], share_of(rows[i])};
    if (std::isnan(sorted[i].score)) return {};
  }
  // Stable, so that the sums do not depend on the sorting algorithm.
  std::ranges::stable_sort(sorted, {}, &Scored::score);
  std::vector<Tie> ties;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i == 0 || sorted[i].score != sorted[i - 1].score) ties.emplace_back();
    ties.back().first += sorted[i].share.first;
    ties.back().second += sorted[i].share.second;
  }
  return ties;
}

}  // namespace espalier
