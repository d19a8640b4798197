// SPDX-License-Identifier: Apache-2.0
// Made-up rows that trees are tested on.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.h"
#include "data/dataset.h"
#include "espalier/schema.h"
#include "layers/layer.h"

namespace espalier {

// A made-up table as networks read it: numbers with few and with many values, one of them with
// missing cells, one monotone, and categories with few and with very many words.
struct MadeUpRows {
  explicit MadeUpRows(std::uint64_t seed, std::size_t count, Loss loss = Loss::squared_error) {
    Random random(seed);
    wires = {{.monotone = true, .keypoints = 30},
             {.keypoints = 7, .learns_missing = true},
             {.monotone = true, .keypoints = 12, .learns_missing = true},
             {.shares = std::vector<float>(3, 1.0f / 3)},
             {.shares = std::vector<float>(400, 1.0f / 400)},
             {.keypoints = 2}};
    data.num_features = wires.size();
    label.loss = loss;
    for (std::size_t r = 0; r < count; ++r) add(random);
    if (loss == Loss::quantile) label.quantiles = {0.1, 0.5, 0.9};
    if (loss == Loss::log_loss) make_grades();
    label.offsets.assign(label.num_scores(), 0);
    if (label.num_levels() > 1)
      wires.push_back({.monotone = true, .keypoints = static_cast<int>(label.num_levels())});
  }

  void make_grades() {
    label.ordered = true;
    label.classes = {"a", "b", "c", "d"};
    for (double& y : data.labels) y = std::clamp(std::floor(y), 0.0, 3.0);
  }

  void add(Random& random) {
    double y = random.normal();
    for (const Wire& wire : wires) {
      float cell;
      if (wire.is_category()) {
        cell = static_cast<float>(random.below(wire.shares.size() + 1));  // the last is unseen
        y += cell < 2 ? 1 : 0;
      } else {
        const double last = wire.keypoints - 1;
        cell = static_cast<float>(wire.keypoints > 20 ? random.uniform() * last
                                                      : std::floor(random.uniform() * (last + 1)));
        // Against the direction of the first column as often as not.
        y += std::sin(9 * cell / last);
        if (wire.learns_missing && random.below(5) == 0) cell = -1;
      }
      data.cells.push_back(cell);
    }
    data.labels.push_back(y);
    ++data.num_rows;
  }

  std::vector<Wire> wires;
  Dataset data;
  Label label;
};

}  // namespace espalier
