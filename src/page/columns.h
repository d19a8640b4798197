// SPDX-License-Identifier: Apache-2.0
// The features of a model: the distribution of their values, and partial dependence.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/thread_pool.h"
#include "espalier/json.h"
#include "espalier/predictor.h"

namespace espalier {

/// Some rows of a table as the Predictor reads them.
struct SampledRows {
  std::vector<float> cells;  // [row][width]
  std::size_t width = 0;

  std::size_t size() const { return width > 0 ? cells.size() / width : 0; }
  std::span<const float> row(std::size_t i) const {
    return std::span(cells).subspan(i * width, width);
  }
};

/// The number of a prediction that is shown alone: the middle quantile or grade, or the first
/// class.
std::size_t main_output(const Label& label);

/// Evenly spaced rows of a sample for partial dependence; their exposure is 1.
SampledRows rows_to_move(const SampledRows& sample, const Predictor& predictor, std::size_t most);

/// A list with one entry per feature: name, kind, direction and categories; the density of the
/// data; the partial dependence of each output with quantiles over rows. `report` gets the fraction
/// of features done, from the calling thread.
Json columns_json(const Predictor& predictor, const SampledRows& sample, ThreadPool& pool,
                  const std::function<void(double)>& report);

/// At most `most` values (numbers, or codes of categories) that are about evenly spaced among those
/// of the sample.
std::vector<float> spread_cells(const Feature& feature, std::size_t index,
                                const SampledRows& sample, std::size_t most);

}  // namespace espalier
