// SPDX-License-Identifier: Apache-2.0
// Verification: every inequality between stored parameters, with tolerance 0, and a search for
// pairs of rows whose predictions violate monotonicity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace espalier {

class Model;

/// The inequalities of one layer or of one forest.
struct LayerProof {
  std::string layer;             ///< "network 2, layer 4: lat(70x5)", "forest 1: 65 trees"
  std::size_t inequalities = 0;  ///< checked
  std::size_t violations = 0;
};

struct Certificate {
  std::string model_hash;
  /// Features in which the prediction never decreases, and never increases. In multiclass models
  /// "class:feature": the probability of the class.
  std::vector<std::string> increasing;
  std::vector<std::string> decreasing;
  std::vector<std::string> levels;  ///< outputs that never cross, in the order of Model::predict
  std::vector<LayerProof> layers;   ///< of all members, in order
  std::size_t inequalities = 0;
  std::size_t violations = 0;          ///< violated inequalities
  std::size_t leaf_orders = 0;         ///< inequalities between two leaves of a tree
  std::size_t pairs = 0;               ///< pairs of rows predicted
  std::size_t pair_violations = 0;     ///< pairs whose prediction moved in the wrong direction
  std::size_t crossings = 0;           ///< rows of these pairs whose levels were out of order
  double largest_drop = 0;             ///< the largest move in the wrong direction
  std::size_t thresholds = 0;          ///< tree splits on constrained features
  std::size_t thresholds_crossed = 0;  ///< splits that a pair steps across; all, if there are
                                       ///< at least eight pairs per split
  std::uint64_t seed = 0;              ///< the random seed of the pairs
  /// The first violations, at most 20. For an inequality: member, layer, unit and both numbers. For
  /// a pair: the values that differ and both predictions, as hexadecimal floats.
  std::vector<std::string> culprits;

  bool holds() const noexcept { return violations == 0 && pair_violations == 0 && crossings == 0; }
};

/// Options of the counter-example search.
struct VerifyOptions {
  std::size_t pairs = 0;  ///< pairs of rows to predict; 0 for no search
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0 uses all cores; the pairs do not depend on it
  /// Called from the calling thread with the number of pairs so far. Its exceptions pass through.
  std::function<void(std::size_t)> progress;
};

/// Checks every inequality exactly. If all hold, searches for a pair of rows whose predictions by
/// the Predictor violate monotonicity: half of the pairs compare scores, half compare predictions.
Certificate verify(const Model& model, const VerifyOptions& options = {});

/// The same for a file, including files that Model::load refuses because of a violated inequality.
/// Throws as Model::load does for any other damage.
Certificate verify_file(const std::string& path, const VerifyOptions& options = {});

}  // namespace espalier
