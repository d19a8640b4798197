// SPDX-License-Identifier: Apache-2.0
// Prints a serving program and the schema of its rows as a C++17 header.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "espalier/export.h"
#include "espalier/schema.h"
#include "serve/program.h"

namespace espalier {

struct HeaderPlan {
  std::string name_space;
  std::string file_name;                           // of the header, which the second file includes
  std::string model_hash;                          // 16 hexadecimal digits
  std::size_t most_inside = std::size_t{1} << 16;  // numbers; more go into the second file
};

struct HeaderText {
  std::vector<ExportedField> fields;
  std::string header;
  std::string numbers;  // the second file; empty if the header has all
};

/// Throws Error (unsupported) for a program that is too large for a header.
HeaderText print_header(const Program& program, const Schema& schema, const HeaderPlan& plan);

}  // namespace espalier
