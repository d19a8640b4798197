// SPDX-License-Identifier: Apache-2.0
// _core.train and _core.tune.
#pragma once

#include <nanobind/nanobind.h>

namespace espalier {

void define_training(nanobind::module_& m);

}  // namespace espalier
