// SPDX-License-Identifier: Apache-2.0
// The mean of the members of a model as docs/monotonicity.md has it, in double: networks by their
// formulas, forests split by split.
#pragma once

#include <cstddef>
#include <span>

#include "model/model_data.h"

namespace espalier {

// One row for one score. encoded: as networks read it; cells: as a predictor reads it.
inline double reference_mean(const ModelData& model, std::span<const double> encoded,
                             std::span<const float> cells, std::size_t score) {
  const Label& label = model.schema.label;
  double sum = 0, total = 0;
  for (const ModelMember& member : model.members) {
    const double output =
        member.is_network()
            ? member.network().evaluate(encoded)[label.num_outputs() > 1 ? score : 0]
            : evaluate(member.forest(), model.schema, cells, score);
    sum += static_cast<double>(member.weight) * output;
    total += static_cast<double>(member.weight);
  }
  return sum / total;
}

}  // namespace espalier
