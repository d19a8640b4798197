// SPDX-License-Identifier: Apache-2.0
// The text of `espalier inspect`: architecture, wiring, constraints and parameters of a model.
#pragma once

#include <string>
#include <string_view>

namespace espalier {

class Model;

/// A summary as text, without control characters except line breaks.
std::string inspect_text(const Model& model);

/// All of it and every number, as JSON text.
std::string inspect_json(const Model& model);

}  // namespace espalier
