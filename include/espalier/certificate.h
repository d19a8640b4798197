// SPDX-License-Identifier: Apache-2.0
// The proof that a model is monotone: every inequality on its stored parameters, tolerance 0.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "espalier/model.h"

namespace espalier {

/// The inequalities of one layer.
struct LayerProof {
  std::string layer;             ///< "layer 4: lat(70x5)"
  std::size_t inequalities = 0;  ///< compared
  std::size_t violations = 0;
};

struct Certificate {
  std::string model_hash;
  std::vector<std::string> increasing;  ///< features the prediction never falls with
  std::vector<std::string> decreasing;  ///< features the prediction never rises with
  std::vector<LayerProof> layers;       ///< of all members, in order
  std::size_t inequalities = 0;
  std::size_t violations = 0;
  /// The first violations, at most 20, each naming member, layer, unit and both numbers.
  std::vector<std::string> culprits;

  bool holds() const noexcept { return violations == 0; }
};

/// Checks every inequality exactly.
Certificate verify(const Model& model);

/// The same for a file, also for one that Model::load refuses because an inequality is broken.
/// Throws as Model::load does for any other damage.
Certificate verify_file(const std::string& path);

}  // namespace espalier
