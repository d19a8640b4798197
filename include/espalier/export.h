// SPDX-License-Identifier: Apache-2.0
// A model in a form that runs without this library.
//
//   espalier::export_header(model, "risk.h");  // gives risk_model::predict(const Row&)
//   espalier::export_onnx(model, "risk.onnx");
//
// docs/export.md tells what is in the file and how names of columns become names of fields.
#pragma once

#include <string>
#include <vector>

#include "espalier/model.h"

namespace espalier {

struct HeaderOptions {
  /// The namespace of the header: an identifier. Empty: the name of the file and `_model`, so that
  /// risk.h has namespace risk_model.
  std::string name_space;
};

/// A field of struct Row and the column that it holds.
struct ExportedField {
  std::string column;
  std::string field;
};

struct ExportedHeader {
  std::string name_space;
  /// One for each of schema().features, then the exposure and the offset if the model has them.
  std::vector<ExportedField> fields;
  std::vector<std::string> files;  ///< the header, then the file of its numbers if it is large
};

/// The second file of a header: risk_numbers.cc beside risk.h.
std::string numbers_path(const std::string& header_path);

/// Writes a C++17 header that predicts with the bits of Predictor and needs only the standard
/// library. The numbers of a large model go into a second file beside it, numbers_path(path), which
/// the user compiles too. Each file appears only when it is complete. Throws Error: argument for a
/// namespace or a file name that C++ does not take, unsupported for a model that is too large for a
/// header, file if a file cannot be written.
ExportedHeader export_header(const Model& model, const std::string& path,
                             const HeaderOptions& options = {});

struct ExportedOnnx {
  std::string prediction;  ///< the names of the outputs, [rows][num_scores] floats
  std::string score;
};

/// Writes an ONNX file of standard operators: an input for each of schema().features by its name,
/// [rows][1] floats, or strings where it has words; NaN and the words that mean so are missing. Its
/// scores are those of Predictor but for their last digits, so they are monotone but for those. The
/// file appears only when it is complete. Throws Error: unsupported for a column without a name and
/// for a model beyond 2 GB, file if the file cannot be written.
ExportedOnnx export_onnx(const Model& model, const std::string& path);

}  // namespace espalier
