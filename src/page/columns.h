// SPDX-License-Identifier: Apache-2.0
// What each column of a model does: where its data lie, and the prediction along it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/thread_pool.h"
#include "espalier/json.h"
#include "espalier/predictor.h"

namespace espalier {

/// Some rows of a table as a Predictor reads them.
struct SampledRows {
  std::vector<float> cells;  // [row][width]
  std::size_t width = 0;

  std::size_t size() const { return width > 0 ? cells.size() / width : 0; }
  std::span<const float> row(std::size_t i) const {
    return std::span(cells).subspan(i * width, width);
  }
};

/// Which number of a prediction is shown where only one is: of quantiles and grades the middle one,
/// of classes the first.
std::size_t main_output(const Label& label);

/// So many rows of a sample, evenly among it, for the mean of predictions while cells are moved;
/// their exposure is 1.
SampledRows rows_to_move(const SampledRows& sample, const Predictor& predictor, std::size_t most);

/// A list with an entry a feature: its name, kind, direction and words; the density of the data;
/// the partial dependence of each output on it, with points of the spread over rows.
/// `report` gets the share of the features that is done, from the calling thread.
Json columns_json(const Predictor& predictor, const SampledRows& sample, ThreadPool& pool,
                  const std::function<void(double)>& report);

/// At most `most` cells that lie about evenly among those of the sample: numbers, or codes of
/// words.
std::vector<float> spread_cells(const Feature& feature, std::size_t index,
                                const SampledRows& sample, std::size_t most);

}  // namespace espalier
