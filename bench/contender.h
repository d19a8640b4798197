// SPDX-License-Identifier: Apache-2.0
// What our contenders share. A contender is a program that measures one thing on the tables of
// bench/data and prints a JSON object per line: contender, value, unit, and what else is worth
// knowing. bench/run.py runs them.
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "espalier/espalier.h"
#include "espalier/json.h"

namespace espalier {

inline void report(const Json& line) { fmt::print("{}\n", line.dump()); }

/// The options of a table, from the options.json in its folder.
inline TrainOptions options_of(const std::string& folder) {
  const std::string path = folder + "/options.json";
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  TrainOptions options;
  apply_json(options, text.str(), path);
  return options;
}

/// The value of a metric of the model on a CSV file.
inline double metric_on(const Model& model, const std::string& path, Metric wanted) {
  const Table table = read_csv(path, model.csv_options({}, Reading::labelled));
  for (const MetricValue& found : evaluate(model, table).metrics) {
    if (found.metric == wanted) return found.value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// Runs a contender's main; an error is its last words.
template <class Body>
int contend(Body&& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

}  // namespace espalier
