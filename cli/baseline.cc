// SPDX-License-Identifier: Apache-2.0
#include "baseline.h"

#include <fmt/format.h>

#include <cmath>

#include "espalier/explain.h"

namespace espalier {

void add_baseline_flag(CLI::App& app, std::string& path) {
  app.add_option(
         "--baseline", path,
         "a CSV file to compare with: one row, or several rows whose medians and most frequent "
         "categories count (default: those of the training data)")
      ->type_name("FILE");
}

std::vector<float> read_baseline(const Model& model, const std::string& path, CsvOptions csv) {
  if (path.empty()) return baseline_row(model);
  csv = model.csv_options(csv, Reading::features);
  // Exposure and offset have no Shapley values, so the file does not need them.
  const auto offset = model.schema().beside.find(Role::offset);
  if (offset != model.schema().beside.end()) {
    csv.types.erase(offset->second);
    std::erase(csv.only, offset->second);
  }
  return baseline_row(model, read_csv(path, csv));
}

std::string baseline_text(const Model& model, const std::vector<float>& baseline) {
  std::string text;
  for (std::size_t f = 0; f < baseline.size(); ++f) {
    const Feature& feature = model.schema().features[f];
    const std::string cell = cell_text(feature, baseline[f]);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", feature.name,
                        cell.empty()                          ? "missing"
                        : feature.kind == FeatureKind::number ? cell
                                                              : "'" + cell + "'");
  }
  return text;
}

Json json_of(const Feature& feature, float cell) {
  const std::string text = cell_text(feature, cell);
  if (text.empty()) return {};
  return feature.kind == FeatureKind::number ? Json::single(cell) : Json(text);
}

Json baseline_json(const Model& model, const std::vector<float>& baseline) {
  Json json = Json::object();
  for (std::size_t f = 0; f < baseline.size(); ++f) {
    const Feature& feature = model.schema().features[f];
    json[feature.name] = json_of(feature, baseline[f]);
  }
  return json;
}

}  // namespace espalier
