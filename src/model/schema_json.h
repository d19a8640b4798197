// SPDX-License-Identifier: Apache-2.0
// Columns, roles and pairs in the header of a model file.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "core/bytes.h"
#include "espalier/json.h"
#include "espalier/schema.h"

namespace espalier {

/// The least format that can hold a schema.
std::uint32_t format_of(const Schema& schema);

/// Adds label, weight and features to the header of a file.
void put_columns(const Schema& schema, Json& header);

/// Adds what files of format 1 do not have and what comes last in others.
void put_pairs_and_roles(const Schema& schema, Json& header);

/// Throws through `reader` for what cannot be a schema of that format.
Schema schema_from_json(const Reader& reader, const Json& header, std::uint32_t format);

/// A list of a header; anything else is refused.
const Json& get_list(const Reader& reader, const Json& json, const char* key);

/// A word of a header as what it stands for; an unknown one is refused.
template <class Enum>
Enum get_word(const Reader& reader, const Json& json, const char* key) {
  const auto word = json.at(key).get<std::string>();
  const auto value = from_word<Enum>(word);
  if (!value) reader.fail(fmt::format("header: '{}' is no {}", word, key));
  return *value;
}

}  // namespace espalier
