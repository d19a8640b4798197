// SPDX-License-Identifier: Apache-2.0
// For tests: a model file without the list of choices. Training with the options that a model
// records makes no choice, so its model has none.
#pragma once

#include <string>

#include "espalier/json.h"
#include "espalier/model.h"
#include "model/model_file.h"

namespace espalier {

inline std::string bytes_without_choices(const Model& model) {
  ModelData data = parse_model(model.to_bytes(), "model", Inequalities::must_hold);
  Json training = Json::parse(data.training_json);
  training.erase("choices");
  data.training_json = training.dump();
  return format_model(data);
}

}  // namespace espalier
