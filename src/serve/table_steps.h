// SPDX-License-Identifier: Apache-2.0
// The steps that read tables: calibrators and lattices. Their values are moved into [1, 2] when a
// model is compiled, and the results lead back; see steps.h.
#pragma once

#include <memory>

#include "layers/calibrators.h"
#include "layers/lattices.h"
#include "serve/steps.h"

namespace espalier {

std::unique_ptr<const Step> calibrator_step(const Calibrators& layer, const float* params);
std::unique_ptr<const Step> lattice_step(const Lattices& layer, const float* params);

}  // namespace espalier
