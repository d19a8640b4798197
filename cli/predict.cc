// SPDX-License-Identifier: Apache-2.0
// espalier predict MODEL DATA: a header and one line per row; the prediction is last.
#include <algorithm>
#include <iterator>
#include <set>

#include "commands.h"
#include "espalier/model.h"
#include "espalier/outputs.h"
#include "files.h"
#include "flags.h"
#include "output.h"

namespace espalier {
namespace {

struct PredictFlags {
  std::string model;
  std::string table;
  std::string output = "-";
  std::vector<std::string> keep;
  CsvOptions csv;
  int threads = 0;
  bool raw = false;
  bool rate = false;
  bool json = false;

  Output kind() const { return raw ? Output::score : Output::prediction; }
};

// Columns of the result must have distinct names.
void check_kept(const PredictFlags& flags, const Model& model) {
  std::vector<std::string> added;
  for (const Column& column : output_table(model.schema().label, {}, flags.kind()).columns)
    added.push_back(column.name);
  std::set<std::string> names(added.begin(), added.end());
  for (const std::string& name : flags.keep) {
    if (names.insert(name).second) continue;
    throw Error(ErrorKind::argument,
                std::ranges::find(added, name) != added.end()
                    ? fmt::format("--keep: '{}' is the name of the column that is added; rename "
                                  "that of the table",
                                  name)
                    : fmt::format("--keep: '{}' is named twice", name));
  }
}

// Kept columns are printed unchanged: columns that the model does not read are read as text, and
// its numeric columns keep their text too.
CsvOptions reading(const PredictFlags& flags, const Model& model) {
  CsvOptions csv = model.csv_options(flags.csv, flags.rate ? Reading::features : Reading::rows);
  csv.threads = flags.threads;
  for (const std::string& name : flags.keep) {
    if (csv.types.emplace(name, ColumnType::category).second) csv.only.push_back(name);
  }
  csv.keep_text = flags.keep;
  return csv;
}

// Data without the required exposure column is an error, not a request for rates.
std::vector<float> predict(const PredictFlags& flags, const Model& model, const Table& table) {
  const auto exposure = model.schema().beside.find(Role::exposure);
  if (!flags.rate && exposure != model.schema().beside.end() &&
      table.find(exposure->second) == nullptr) {
    throw Error(ErrorKind::data,
                fmt::format("{}: no column '{}', the exposure; --rate predicts for exposure 1",
                            table.name, exposure->second));
  }
  return model.predict(table, flags.kind(), flags.threads);
}

// Kept columns, then predictions.
Table answer(const PredictFlags& flags, const Model& model, const Table& table) {
  Table out;
  out.num_rows = table.num_rows;
  for (const std::string& name : flags.keep) out.columns.push_back(kept_column(table, name));
  Table predicted = output_table(model.schema().label, predict(flags, model, table), flags.kind());
  std::ranges::move(predicted.columns, std::back_inserter(out.columns));
  return out;
}

void warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) tell("espalier: warning: " + warning);
}

// Some rows at a time, so that memory does not grow with the data.
void stream(const PredictFlags& flags, const Model& model) {
  CsvPieces pieces(flags.table, reading(flags, model));
  TableWarnings warnings(model);
  std::string name;
  Table piece;
  const auto next = [&](Table& out) {
    if (!pieces.next(piece)) return false;
    if (name.empty()) name = piece.name;
    warnings.add(piece);
    out = answer(flags, model, piece);
    return true;
  };
  write_pieces(next, flags.output, flags.threads);
  warn(warnings.list(name));
}

Json to_json(const PredictFlags& flags, const Table& out) {
  const std::size_t first = flags.keep.size();
  Json kept, predicted;
  for (std::size_t i = 0; i < out.columns.size(); ++i) {
    const Column& column = out.columns[i];
    if (i < first) {
      kept[column.name] = json_of(column);
    } else if (out.columns.size() == first + 1) {
      predicted = json_of(column);
    } else {
      predicted[column.name] = json_of(column);
    }
  }
  Json json = {{"rows", out.num_rows},
               {flags.raw ? "scores" : "predictions", std::move(predicted)}};
  if (first > 0) json["keep"] = std::move(kept);
  return json;
}

int run_predict(const PredictFlags& flags) {
  check_table_flags(flags.csv);
  check_files({.outputs = {{"-o", flags.output}},
               .inputs = {{"the model", flags.model}},
               .datasets = {{"the data", flags.table}}});
  const Model model = Model::load(flags.model);
  if (flags.rate && !model.schema().beside.contains(Role::exposure))
    throw Error(ErrorKind::argument, "--rate: the model was trained without an exposure");
  check_kept(flags, model);
  if (!flags.json) {
    stream(flags, model);
    return 0;
  }
  // One object with all rows.
  const Table table = read_csv(flags.table, reading(flags, model));
  warn(model.warnings(table));
  const Table out = answer(flags, model, table);
  if (flags.output != "-") write_table(out, flags.output);
  print_json_line(to_json(flags, out));
  return 0;
}

}  // namespace

Run define_predict(CLI::App& app) {
  const auto flags = std::make_shared<PredictFlags>();
  app.add_option("MODEL", flags->model, "a model file")->required();
  app.add_option("DATA", flags->table,
                 "a CSV file, a folder or 'pattern*.csv' of several files, or - for standard input")
      ->required();
  app.add_option("-o,--output", flags->output, "the file to write (default -, standard output)")
      ->type_name("FILE");
  app.add_flag("--raw", flags->raw,
               "print the score: the value before the sigmoid or the exponential");
  app.add_flag("--rate", flags->rate, "predict for exposure 1; the data needs no exposure column");
  add_list(app, "--keep", flags->keep, "columns of the data to print before the prediction");
  app.add_flag("--json", flags->json, "print one JSON object; a file of -o is still a CSV");
  add_field(app, Field{"threads", "0 uses all cores", 0, 1024}, flags->threads);
  add_table_flags(app, flags->csv);
  return [flags] { return run_predict(*flags); };
}

}  // namespace espalier
