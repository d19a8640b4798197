// SPDX-License-Identifier: Apache-2.0
// JSON from outside: model headers and configurations.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "espalier/error.h"

namespace espalier {

// Keeps the order of keys, so that what is read and written again keeps its bytes.
using Json = nlohmann::ordered_json;

inline constexpr int kMaxJsonDepth = 64;
inline constexpr int kMaxJsonKeys = 4096;

// Reads JSON text of at most kMaxJsonDepth levels, since copying and writing recurse, with at most
// kMaxJsonKeys keys per object, since finding one takes a walk over all. Throws Error (kind) that
// begins with `place` for anything else; text that is not UTF-8 and numbers beyond double are no
// JSON.
Json parse_json(std::string_view text, ErrorKind kind, const std::string& place);

// What an exception of the library says, without its "[json.exception.type_error.302] ", which
// tells a user nothing, and not longer than a message should be.
std::string message_of(const Json::exception& error);

}  // namespace espalier
