// SPDX-License-Identifier: Apache-2.0
// The baseline of explanations: its flag, reading and printing.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "espalier/csv.h"
#include "espalier/model.h"
#include "output.h"

namespace espalier {

/// --baseline FILE
void add_baseline_flag(CLI::App& app, std::string& path);

/// The baseline of the model, or of the rows of a file, which is read like the data.
std::vector<float> read_baseline(const Model& model, const std::string& path, CsvOptions csv);

/// "age 37, home 'rent', ..."
std::string baseline_text(const Model& model, const std::vector<float>& baseline);

/// {"age": 37, "home": "rent", ...}
Json baseline_json(const Model& model, const std::vector<float>& baseline);

/// A value as JSON: a number, a category, or null.
Json json_of(const Feature& feature, float cell);

}  // namespace espalier
