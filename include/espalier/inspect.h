// SPDX-License-Identifier: Apache-2.0
// A model laid open: architecture, wiring, parameters per layer, calibrator tables, what is
// monotone in what.
#pragma once

#include <string>
#include <string_view>

namespace espalier {

class Model;

/// For people: a page of text without control characters but its line breaks.
std::string inspect_text(const Model& model);

/// For programs: the same and every number, as JSON text.
std::string inspect_json(const Model& model);

}  // namespace espalier
