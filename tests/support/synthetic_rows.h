// SPDX-License-Identifier: Apache-2.0
// Synthetic rows that trees are tested on.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/math.h"
#include "core/random.h"
#include "encode/dataset.h"
#include "espalier/schema.h"
#include "layers/layer.h"

namespace espalier {

// A number, its median, quantiles and grades.
inline constexpr Loss kSyntheticLosses[] = {Loss::squared_error, Loss::absolute_error,
                                            Loss::quantile, Loss::log_loss};

// A dataset as networks read it: numbers with few and with many values, some of them with missing
// values, some monotone, and features with few and with very many categories.
struct SyntheticRows {
  explicit SyntheticRows(std::uint64_t seed, std::size_t count, Loss loss = Loss::squared_error) {
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
    if (loss == Loss::poisson || loss == Loss::gamma || loss == Loss::tweedie) make_amounts();
    label.offsets.assign(label.num_scores(), 0);
    if (label.num_levels() > 1)
      wires.push_back({.monotone = true, .keypoints = static_cast<int>(label.num_levels())});
  }

  void make_grades() {
    label.ordered = true;
    label.classes = {"a", "b", "c", "d"};
    for (double& y : data.labels) y = std::clamp(std::floor(y), 0.0, 3.0);
  }

  // Counts, or amounts in units of 4; some of those of tweedie are 0.
  void make_amounts() {
    label.power = label.loss == Loss::poisson ? 1 : label.loss == Loss::gamma ? 2 : 1.4;
    label.unit = label.loss == Loss::poisson ? 1 : 4;
    for (double& y : data.labels) {
      y = label.unit * portable_exp(std::min(0.4 * y, 3.0));
      if (label.loss == Loss::poisson) y = std::floor(y);
      if (label.loss == Loss::tweedie && y < 3) y = 0;
    }
  }

  // A label with other units, and columns beside the features. Some rows weigh nothing.
  void complicate(Random& random) {
    label.scale = 0.5 + random.uniform();
    for (double& offset : label.offsets) offset += random.uniform() - 0.5;
    std::ranges::sort(label.offsets, std::greater());
    if (label.loss == Loss::quantile) std::ranges::reverse(label.offsets);
    const bool has_weight = random.below(2) == 0, has_offset = random.below(2) == 0;
    for (std::size_t r = 0; r < data.num_rows; ++r) {
      if (has_weight)
        data.beside[Role::weight].push_back(static_cast<float>(random.below(4)) * 0.7f);
      if (has_offset)
        data.beside[Role::offset].push_back(static_cast<float>(random.uniform() - 0.5));
      if (label.has_log_link())
        data.beside[Role::exposure].push_back(static_cast<float>(0.1 + random.uniform()));
    }
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

  // Features whose values are their positions.
  Schema schema() const {
    Schema schema{.label = label};
    for (std::size_t c = 0; c < data.num_features; ++c) {
      const Wire& wire = wires[c];
      Feature& feature = schema.features.emplace_back();
      feature.learns_missing = wire.learns_missing;
      if (wire.monotone) feature.monotonicity = Monotonicity::increasing;
      for (int k = 0; k < wire.keypoints; ++k) feature.keypoints.push_back(static_cast<float>(k));
      if (!wire.is_category()) continue;
      feature.kind = FeatureKind::category;
      feature.shares = wire.shares;
      for (std::size_t code = 0; code < wire.shares.size(); ++code)
        feature.categories.push_back("w" + std::to_string(code));
    }
    return schema;
  }

  // A category without training rows, which counts as the mean of the others in a network.
  bool has_unseen_category(std::size_t row) const {
    for (std::size_t c = 0; c < data.num_features; ++c) {
      if (wires[c].is_category() && data.row(row)[c] == static_cast<float>(wires[c].shares.size()))
        return true;
    }
    return false;
  }

  std::vector<Wire> wires;
  Dataset data;
  Label label;
};

}  // namespace espalier
