// SPDX-License-Identifier: Apache-2.0
// Why scores are what they are, as numpy arrays: espalier/explain.h.
#pragma once

#include <nanobind/nanobind.h>

namespace espalier {

void define_explanations(nanobind::module_& m);

}  // namespace espalier
