// SPDX-License-Identifier: Apache-2.0
// espalier importance MODEL DATA: the importance of the features on labeled data.
#include <fmt/format.h>

#include <algorithm>

#include "baseline.h"
#include "commands.h"
#include "espalier/explain.h"
#include "espalier/text.h"
#include "files.h"
#include "flags.h"
#include "output.h"
#include "progress.h"

namespace espalier {
namespace {

struct ImportanceFlags {
  std::string model;
  std::string table;
  std::string baseline;
  CsvOptions csv;
  ImportanceOptions options;
  bool json = false;
};

std::string spread_text(const Spread& spread) {
  return fmt::format("{:>11.4g} ± {:<9.2g}", spread.mean, spread.deviation);
}

// The most important feature first.
std::string importance_text(const Importance& importance) {
  std::vector<ColumnImportance> columns = importance.columns;
  std::ranges::stable_sort(columns, std::greater<>(),
                           [](const ColumnImportance& column) { return column.loss.mean; });
  std::size_t width = 6;
  for (const ColumnImportance& column : columns)
    width = std::max(width, escape_controls(column.column).size());
  const std::string metric(to_word(importance.metric));
  std::string text =
      fmt::format("{:<10}{}\n{:<10}{:.6g}\n{:<10}of {} rows\n\n", "rows", importance.rows, metric,
                  importance.value, "shares", importance.shared_rows);
  text += fmt::format("{:<{}}  {:<23}{:<23}{}\n", "column", width, "   worse " + metric,
                      "    move of score", "    |share|");
  for (const ColumnImportance& column : columns) {
    std::string line =
        fmt::format("{:<{}}{} {} {}", escape_controls(column.column), width,
                    spread_text(column.loss), spread_text(column.move), spread_text(column.share));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

Json json_of(const Spread& spread) {
  return {{"mean", spread.mean}, {"deviation", spread.deviation}};
}

Json json_of(const Importance& importance) {
  Json columns = Json::array();
  for (const ColumnImportance& column : importance.columns) {
    columns.push_back({{"column", column.column},
                       {"loss", json_of(column.loss)},
                       {"move", json_of(column.move)},
                       {"share", json_of(column.share)}});
  }
  return {{"rows", importance.rows},
          {"shared_rows", importance.shared_rows},
          {"metric", to_word(importance.metric)},
          {"value", importance.value},
          {"columns", std::move(columns)}};
}

int run_importance(ImportanceFlags flags) {
  check_table_flags(flags.csv);
  check_files(
      {.inputs = {{"the model", flags.model}},
       .datasets = {{"the data", flags.table}, {"the data of --baseline", flags.baseline}}});
  const Model model = Model::load(flags.model);
  flags.options.baseline = read_baseline(model, flags.baseline, flags.csv);
  const Table table = read_csv(flags.table, model.csv_options(flags.csv, Reading::labelled));
  for (const std::string& warning : model.warnings(table)) tell("espalier: warning: " + warning);
  if (flags.options.shared_rows == 0)
    warn_of_idle_flags({{"--baseline", !flags.baseline.empty()}}, "--shared-rows is 0");
  constexpr std::size_t kSteps = 1000;
  CountBar bar("steps", kSteps);
  flags.options.progress = [&](double share) {
    bar.show(static_cast<std::size_t>(share * static_cast<double>(kSteps)));
  };
  const Importance result = importance(model, table, flags.options);
  bar.clear();
  if (flags.json) {
    print_json(json_of(result));
  } else {
    print(importance_text(result));
  }
  return 0;
}

}  // namespace

Run define_importance(CLI::App& app) {
  const auto flags = std::make_shared<ImportanceFlags>();
  ImportanceOptions& options = flags->options;
  app.add_option("MODEL", flags->model, "a model file")->required();
  app.add_option("DATA", flags->table, "a CSV file with labels, or - for standard input")
      ->required();
  add_field(app, Field{"metric", "the metric that shuffling a column makes worse"}, options.metric);
  add_field(app, Field{"repeats", "how often each column is shuffled", 1, 1e6}, options.repeats);
  add_field(app,
            Field{"shared_rows", "rows sampled for the mean Shapley values; 0 for none", 0, 1e9},
            options.shared_rows);
  add_field(app,
            Field{"shuffled_rows",
                  "rows sampled for shuffling; 0: all rows, or fewer if there are more than "
                  "100 columns",
                  0, 1e9},
            options.shuffled_rows);
  add_baseline_flag(app, flags->baseline);
  add_field(app, Field{"seed", "the random seed of shuffles, samples and permutations"},
            options.seed);
  app.add_flag("--json", flags->json, "print one JSON object");
  add_field(app, Field{"threads", "0 uses all cores", 0, 1024}, options.threads);
  add_table_flags(app, flags->csv);
  return [flags] { return run_importance(*flags); };
}

}  // namespace espalier
