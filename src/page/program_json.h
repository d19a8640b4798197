// SPDX-License-Identifier: Apache-2.0
// The serving program as JSON, for the interpreter of the page (interpreter.js).
#pragma once

#include "espalier/json.h"
#include "serve/program.h"

namespace espalier {

/// Every number of the program with all its bits; names are those of serve/program.h.
Json json_of(const Program& program);

}  // namespace espalier
