// SPDX-License-Identifier: Apache-2.0
// Names for architectures that size themselves, and the automatic choices of training.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/json.h"
#include "espalier/options.h"
#include "espalier/schema.h"

namespace espalier {

/// Replaces a preset by its layers and every 0 that means "choose" by a value, given the number of
/// training rows and the features. Throws Error (argument) for an unknown preset.
void resolve_options(std::size_t rows, const std::vector<Feature>& features, TrainOptions& options);

std::vector<std::string> preset_names();

/// The options that decide the bits of a model: all but the number of threads.
Json deciding_options(const TrainOptions& options);

}  // namespace espalier
