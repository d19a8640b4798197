// SPDX-License-Identifier: Apache-2.0
// A model at work: the one of a folder, and test rows as its predictor reads them.
#pragma once

#include <string>
#include <vector>

#include "contender.h"
#include "espalier/predictor.h"

namespace espalier {

/// [rows][features], from the rows of the table over and over again.
inline std::vector<float> predictor_rows(const Predictor& predictor, const Table& table,
                                         std::size_t rows) {
  const std::vector<Feature>& features = predictor.model().schema().features;
  std::vector<float> cells(rows * features.size());
  for (std::size_t f = 0; f < features.size(); ++f) {
    const Column& column = *table.find(features[f].name);
    std::vector<float> codes;
    for (const std::string& word : column.categories) codes.push_back(predictor.code(f, word));
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t i = r % table.num_rows;
      float& cell = cells[r * features.size() + f];
      if (column.type == ColumnType::number) {
        cell = column.values()[i];
      } else if (column.codes[i] == kMissingCode) {
        cell = predictor.code(f, "");
      } else {
        cell = codes[static_cast<std::size_t>(column.codes[i])];
      }
    }
  }
  return cells;
}

struct Service {
  Service(const std::string& folder, std::size_t rows)
      : test_file(folder + "/test.csv"),
        model(Model::load(folder + "/model.esp")),
        table(read_csv(test_file, model.csv_options())),
        predictor(model),
        scratch(predictor),
        cells(predictor_rows(predictor, table, rows)) {}

  void report_seconds(double seconds_a_row) const {
    report({{"contender", "espalier"},
            {"value", seconds_a_row * 1e9},
            {"unit", "ns/row"},
            {"log_loss", metric_on(model, test_file, Metric::log_loss)}});
  }

  const std::string test_file;
  const Model model;
  const Table table;
  const Predictor predictor;
  Predictor::Scratch scratch;
  const std::vector<float> cells;  // [rows][features]
};

}  // namespace espalier
