// SPDX-License-Identifier: Apache-2.0
// The proof that a model is monotone: every inequality on its stored parameters, tolerance 0; and a
// hunt for pairs of rows whose predictions contradict it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace espalier {

class Model;

/// The inequalities of one layer.
struct LayerProof {
  std::string layer;             ///< "layer 4: lat(70x5)"
  std::size_t inequalities = 0;  ///< compared
  std::size_t violations = 0;
};

struct Certificate {
  std::string model_hash;
  /// Features that the prediction never falls with, and never rises with; of classes without an
  /// order "class:feature", of the probability of that class.
  std::vector<std::string> increasing;
  std::vector<std::string> decreasing;
  std::vector<std::string> levels;  ///< outputs that never cross, in the order of Model::predict
  std::vector<LayerProof> layers;   ///< of all members, in order
  std::size_t inequalities = 0;
  std::size_t violations = 0;          ///< of inequalities
  std::size_t pairs = 0;               ///< of rows, predicted and compared
  std::size_t pair_violations = 0;     ///< pairs whose prediction fell although it must not
  std::size_t crossings = 0;           ///< of these rows, those whose levels were out of order
  double largest_drop = 0;             ///< of a prediction in such a pair
  std::size_t thresholds = 0;          ///< of tree splits on features with a direction
  std::size_t thresholds_crossed = 0;  ///< of these, those that pairs step across; all, unless the
                                       ///< pairs are fewer than eight times as many
  std::uint64_t seed = 0;              ///< that drew the pairs
  /// The first violations, at most 20: of an inequality with member, layer, unit and both numbers;
  /// of a pair with the cells that differ and both predictions, as hexadecimal floats.
  std::vector<std::string> culprits;

  bool holds() const noexcept { return violations == 0 && pair_violations == 0 && crossings == 0; }
};

/// How to hunt.
struct VerifyOptions {
  std::size_t pairs = 0;  ///< of rows to try: tree thresholds, adjacent floats, keypoints, ...
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0 uses all cores; the pairs do not depend on it
  /// Gets the pairs so far, from the calling thread; an exception that it throws leaves verify().
  std::function<void(std::size_t)> progress;
};

/// Checks every inequality exactly; if all hold, searches for a pair of rows that the Predictor
/// gets wrong, half of them by the score and half by the prediction.
Certificate verify(const Model& model, const VerifyOptions& options = {});

/// The same for a file, also for one that Model::load refuses because an inequality is broken.
/// Throws as Model::load does for any other damage.
Certificate verify_file(const std::string& path, const VerifyOptions& options = {});

}  // namespace espalier
