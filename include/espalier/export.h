// SPDX-License-Identifier: Apache-2.0
// Exports models as files that run without this library.
//
//   espalier::export_header(model, "risk.h");  // gives risk_model::predict(const Row&)
//   espalier::export_onnx(model, "risk.onnx");
//
// docs/export.md describes the files and the names of fields.
#pragma once

#include <string>
#include <vector>

#include "espalier/model.h"

namespace espalier {

struct HeaderOptions {
  /// The namespace of the header. Empty: the file name and `_model`, as in risk_model for risk.h.
  std::string name_space;
};

/// A field of struct Row and its column.
struct ExportedField {
  std::string column;
  std::string field;
};

struct ExportedHeader {
  std::string name_space;
  /// The fields of schema().features, then exposure and offset if the model has them.
  std::vector<ExportedField> fields;
  std::vector<std::string> files;  ///< the header, then numbers_path() for a large model
};

/// The second file of a header: risk_numbers.cc for risk.h.
std::string numbers_path(const std::string& header_path);

/// Writes a C++17 header that needs only the standard library and predicts the same bits as
/// Predictor. The parameters of a large model go into a second file, numbers_path(path), which you
/// compile too. Each file appears only when it is complete. Throws Error: argument for a namespace
/// or a file name that C++ does not accept, unsupported for a model that is too large for a header,
/// file if a file cannot be written.
ExportedHeader export_header(const Model& model, const std::string& path,
                             const HeaderOptions& options = {});

struct ExportedOnnx {
  std::string prediction;  ///< names of the outputs, [rows][num_scores] floats
  std::string score;
};

/// Writes an ONNX file of standard operators. Each of schema().features is an input of its name:
/// [rows][1] floats, or strings for categorical and ordered features. NaN and missing strings are
/// missing values. Scores may differ from those of Predictor in the last digits, so they are
/// monotonic up to rounding only. The file appears only when it is complete. Throws Error:
/// unsupported for a column without a name and for a model above 2 GB, file if the file cannot be
/// written.
ExportedOnnx export_onnx(const Model& model, const std::string& path);

}  // namespace espalier
