// SPDX-License-Identifier: Apache-2.0
// What a Predictor holds.
#pragma once

#include <vector>

#include "core/thread_pool.h"
#include "encode/dataset.h"
#include "espalier/predictor.h"
#include "serve/interpreter.h"

namespace espalier {

struct Predictor::Compiled {
  explicit Compiled(const Model& compiled_model);

  Model model;
  Interpreter interpreter;
};

/// What a predictor says of each row of a dataset, [row][num_scores].
std::vector<float> scores(const Predictor& predictor, const Dataset& data, ThreadPool& pool);
std::vector<float> predictions(const Predictor& predictor, const Dataset& data, ThreadPool& pool);

}  // namespace espalier
