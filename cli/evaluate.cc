// SPDX-License-Identifier: Apache-2.0
// espalier evaluate MODEL DATA: the metrics of a model on labeled data.
#include <fmt/format.h>

#include "commands.h"
#include "espalier/metrics.h"
#include "espalier/model.h"
#include "files.h"
#include "flags.h"
#include "output.h"

namespace espalier {
namespace {

struct EvaluateFlags {
  std::string model;
  std::string table;
  CsvOptions csv;
  bool json = false;
};

int run_evaluate(const EvaluateFlags& flags) {
  check_table_flags(flags.csv);
  check_files({.inputs = {{"the model", flags.model}}, .datasets = {{"the data", flags.table}}});
  const Model model = Model::load(flags.model);
  const Table table = read_csv(flags.table, model.csv_options(flags.csv, Reading::labelled));
  for (const std::string& warning : model.warnings(table)) tell("espalier: warning: " + warning);
  const Evaluation evaluation = evaluate(model, table);
  if (evaluation.rows_unlabelled > 0) {
    tell(fmt::format("espalier: warning: {}: {} rows without a label were left out", table.name,
                     evaluation.rows_unlabelled));
  }
  if (flags.json) {
    Json json = json_of(evaluation.metrics);
    json["rows"] = evaluation.rows;
    json["rows_unlabelled"] = evaluation.rows_unlabelled;
    print_json(json);
    return 0;
  }
  std::string text = fmt::format("{:<10}{}\n", "rows", evaluation.rows);
  for (const auto& [metric, value] : evaluation.metrics) {
    text += fmt::format("{:<10}{:.6g}\n", to_word(metric), value);
  }
  print(text);
  return 0;
}

}  // namespace

Run define_evaluate(CLI::App& app) {
  const auto flags = std::make_shared<EvaluateFlags>();
  app.add_option("MODEL", flags->model, "a model file")->required();
  app.add_option("DATA", flags->table, "a CSV file with labels, or - for standard input")
      ->required();
  app.add_flag("--json", flags->json, "print one JSON object");
  add_table_flags(app, flags->csv);
  return [flags] { return run_evaluate(*flags); };
}

}  // namespace espalier
