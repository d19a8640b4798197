// SPDX-License-Identifier: Apache-2.0
// The label in the header of a model file. Format 1 knows two classes and squared errors;
// everything else is format 2, which older programs refuse instead of reading it wrongly.
#pragma once

#include <cstdint>

#include "constraints/check.h"
#include "core/bytes.h"
#include "espalier/json.h"
#include "espalier/schema.h"
#include "layers/layer.h"

namespace espalier {

/// The least format that can hold a label.
std::uint32_t format_of(const Label& label);

Json label_to_json(const Label& label);

/// Throws through `reader` for what cannot be a label of that format.
Label label_from_json(const Reader& reader, const Json& json, std::uint32_t format);

/// The offsets of levels, which the scores rise or fall with: in the order of the levels.
Check check_levels(const Label& label, const CulpritSink& sink);

}  // namespace espalier
