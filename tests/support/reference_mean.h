// SPDX-License-Identifier: Apache-2.0
// The mean of the members of a model as docs/monotonicity.md has it, in double: networks by their
// formulas, forests split by split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "encode/encode.h"
#include "model/model_data.h"

namespace espalier {

// The sum of the leaves of a row. A category is by its code.
inline double reference_output(const DecisionForest& forest, const Schema& schema,
                               std::span<const float> cells, std::size_t level) {
  double sum = 0;
  for (const DecisionTree& tree : forest.trees) {
    std::int32_t at = tree.splits.empty() ? ~0 : 0;
    while (at >= 0) {
      const DecisionSplit& split = tree.splits[static_cast<std::size_t>(at)];
      const bool is_level = split.feature == schema.features.size();
      const Feature* const feature = is_level ? nullptr : &schema.features[split.feature];
      float value =
          is_level ? static_cast<float>(schema.label.level_position(level)) : cells[split.feature];
      if (!is_level && feature->kind == FeatureKind::category) value = encode_cell(*feature, value);
      at = split.next[goes_right(forest, split, feature, value) ? 1 : 0];
    }
    sum += static_cast<double>(tree.leaves[static_cast<std::size_t>(~at)]);
  }
  return sum;
}

// One row for one score. encoded: as networks read it; cells: as a predictor reads it.
inline double reference_mean(const ModelData& model, std::span<const double> encoded,
                             std::span<const float> cells, std::size_t score) {
  const Label& label = model.schema.label;
  double sum = 0, total = 0;
  for (const ModelMember& member : model.members) {
    const double output =
        member.is_network()
            ? member.network().evaluate(encoded)[label.num_outputs() > 1 ? score : 0]
            : reference_output(member.forest(), model.schema, cells, score);
    sum += static_cast<double>(member.weight) * output;
    total += static_cast<double>(member.weight);
  }
  return sum / total;
}

}  // namespace espalier
