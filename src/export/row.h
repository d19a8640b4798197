// SPDX-License-Identifier: Apache-2.0
// The rows of an exported header: struct Row, an enum for each feature that has words, and what
// makes words into its values.
#pragma once

#include <string>
#include <vector>

#include "espalier/export.h"
#include "espalier/schema.h"

namespace espalier {

struct RowText {
  std::vector<ExportedField> fields;  // one for each raw cell
  std::string enums;                  // before detail
  std::string row;                    // struct Row
  std::string categories;             // in detail: tables of words
  std::string from_string;            // behind detail: FIELD_from_string(word)
  std::string cells;                  // what Row gives detail::score, one entry a raw cell
  std::string exposure;               // its field; empty without one
};

RowText print_row(const Schema& schema);

}  // namespace espalier
