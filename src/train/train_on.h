// SPDX-License-Identifier: Apache-2.0
// train() for those inside the library who choose the rows themselves.
#pragma once

#include "espalier/options.h"
#include "espalier/train.h"
#include "train/problem.h"

namespace espalier {

/// As train(). Throws as it does.
TrainResult train_on(const Source& source, const TrainOptions& options,
                     const TrainControl& control);

}  // namespace espalier
