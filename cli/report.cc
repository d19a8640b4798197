// SPDX-License-Identifier: Apache-2.0
// espalier report MODEL DATA -o FILE: a model and its quality on data as an HTML page.
#include <fmt/format.h>

#include "commands.h"
#include "espalier/model.h"
#include "espalier/page.h"
#include "files.h"
#include "flags.h"
#include "output.h"
#include "progress.h"

namespace espalier {
namespace {

struct ReportFlags {
  std::string model;
  std::string table;
  std::string output;
  CsvOptions csv;
  PageOptions options;
  bool json = false;
};

// The data may lack the label, and then also the weight.
CsvOptions reading(const ReportFlags& flags, const Model& model) {
  const Schema& schema = model.schema();
  CsvOptions csv = model.csv_options(flags.csv, Reading::labelled);
  csv.threads = flags.options.threads;
  csv.optional.push_back(schema.label.name);
  if (const auto weight = schema.beside.find(Role::weight); weight != schema.beside.end())
    csv.optional.push_back(weight->second);
  if (!flags.options.by.empty()) csv.only.push_back(flags.options.by);
  return csv;
}

int run_report(ReportFlags flags) {
  check_table_flags(flags.csv);
  check_files({.outputs = {{"-o", flags.output}},
               .inputs = {{"the model", flags.model}},
               .datasets = {{"the data", flags.table}}});
  if (flags.json && flags.output == "-")
    throw Error(ErrorKind::argument, "-o: the page and --json cannot both be standard output");
  const Model model = Model::load(flags.model);
  StatusLine line(true);
  flags.options.progress = [&line](double share, std::string_view next) {
    if (line.due()) line.draw(share, std::string(next));
  };
  flags.options.progress(0, "reading");
  const Table table = read_csv(flags.table, reading(flags, model));
  line.clear();
  for (const std::string& warning : model.warnings(table)) tell("espalier: warning: " + warning);
  const std::string page = page_html(model, table, flags.options);
  line.clear();
  if (table.find(model.schema().label.name) == nullptr) {
    tell(
        fmt::format("espalier: warning: {}: no column '{}', the label: the report is without "
                    "quality",
                    table.name, model.schema().label.name));
  }
  write_text(page, flags.output);
  if (flags.json) {
    print_json(Json{{"file", flags.output}, {"bytes", page.size()}, {"rows", table.num_rows}});
  }
  return 0;
}

}  // namespace

Run define_report(CLI::App& app) {
  const auto flags = std::make_shared<ReportFlags>();
  app.add_option("MODEL", flags->model, "a model file")->required();
  app.add_option("DATA", flags->table,
                 "a CSV file with labels that training has not seen, or - for standard input")
      ->required();
  app.add_option("-o,--output", flags->output, "the HTML file, or - for standard output")
      ->required()
      ->type_name("FILE");
  app.add_option("--by", flags->options.by, "evaluate each group of this column separately")
      ->type_name("COLUMN");
  add_field(app, Field{"pairs", "pairs of rows to predict in the counter-example search", 0, 1e15},
            flags->options.pairs);
  add_field(app, Field{"seed", "the random seed of pairs, bootstrap samples and rows"},
            flags->options.seed);
  add_field(app, Field{"threads", "0 uses all cores", 0, 1024}, flags->options.threads);
  app.add_flag("--json", flags->json, "print a summary of the page as one JSON object");
  add_table_flags(app, flags->csv);
  return [flags] { return run_report(*flags); };
}

}  // namespace espalier
