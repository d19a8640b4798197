// SPDX-License-Identifier: Apache-2.0
// What a Predictor holds.
#pragma once

#include <vector>

#include "core/thread_pool.h"
#include "data/dataset.h"
#include "espalier/predictor.h"
#include "serve/steps.h"

namespace espalier {

struct Predictor::Compiled {
  explicit Compiled(const Model& compiled_model);

  /// The scores of up to kTile encoded rows. cells: [count][features]; it may be the beginning of
  /// scratch, which has scratch_size floats.
  void scores(const float* cells, std::size_t count, float* scratch, float* out) const noexcept;

  /// The score of a row from the sum of the members' outputs.
  float score(double sum) const noexcept;

  /// What a score means to the user.
  float output(float score, Output wanted) const noexcept;

  Model model;
  std::vector<CompiledNetwork> members;
  std::size_t members_begin = 0;  // in scratch; before it lie the encoded cells of a tile
  std::size_t scratch_size = 0;
};

/// The score of each row of a dataset.
std::vector<float> scores(const Predictor& predictor, const Dataset& data, ThreadPool& pool);

}  // namespace espalier
