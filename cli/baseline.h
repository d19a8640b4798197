// SPDX-License-Identifier: Apache-2.0
// The row that explanations compare with: flags, reading and words.
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

/// That of the model, or of the rows of a file that is read as the table is.
std::vector<float> read_baseline(const Model& model, const std::string& path, CsvOptions csv);

/// "age 37, home 'rent', ..."
std::string baseline_text(const Model& model, const std::vector<float>& baseline);

/// {"age": 37, "home": "rent", ...}
Json baseline_json(const Model& model, const std::vector<float>& baseline);

/// A cell as JSON: a number, a word, or null.
Json json_of(const Feature& feature, float cell);

}  // namespace espalier
