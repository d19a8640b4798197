// SPDX-License-Identifier: Apache-2.0
// Options with every choice made. What a caller leaves open is chosen once, when the table is
// known; all code after that takes this type, so that it cannot read the caller's options by
// mistake.
#pragma once

#include <cstddef>
#include <vector>

#include "espalier/json.h"
#include "espalier/options.h"
#include "espalier/schema.h"

namespace espalier {

/// A value of TrainOptions in which no word is `automatic` and no number is the one that means
/// "choose". settle() makes it.
class SettledOptions {
 public:
  /// Throws Error (unsupported) naming a field that is open: an error in the library.
  explicit SettledOptions(TrainOptions options);

  const TrainOptions* operator->() const { return &options_; }
  const TrainOptions& operator*() const { return options_; }

 private:
  TrainOptions options_;
};

/// Where validation rows come from: training can stop by them, and members can hold out different
/// rows if they are split off.
enum class Validation { none, given, split_off };

/// Replaces a preset by its layers, and every choice that is left open by the one that suits the
/// label, the features and the number of training rows (train/policy.h). What is settled stays as
/// it is. Throws Error (argument) for an unknown preset and for a metric that does not suit the
/// label.
SettledOptions settle(TrainOptions options, const Label& label,
                      const std::vector<Feature>& features, std::size_t rows,
                      Validation validation = Validation::none);

/// The same settings for a network that is trained for a share of the first length, without
/// validation rows.
SettledOptions for_search(const SettledOptions& options, const Label& label, std::size_t rows,
                          double share);

/// The options that decide the bits of a model: all but the number of threads.
Json deciding_options(const SettledOptions& options);

}  // namespace espalier
