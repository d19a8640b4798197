// SPDX-License-Identifier: Apache-2.0
// A serving program and the schema of its rows as an ONNX file: an input a column, words as
// strings.
#pragma once

#include <string>
#include <vector>

#include "espalier/schema.h"
#include "serve/program.h"

namespace espalier {

struct OnnxFile {
  std::string prediction;  // the names of the outputs
  std::string score;
  std::string bytes;
};

/// Throws Error (unsupported) for a column whose name is no name in ONNX, and for a program that is
/// too large for a file.
OnnxFile print_onnx(const Program& program, const Schema& schema, const std::string& model_hash);

}  // namespace espalier
