// SPDX-License-Identifier: Apache-2.0
#include "training.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "espalier/text.h"
#include "flags.h"
#include "ranks.h"

namespace espalier {
namespace {

void apply_config(TrainOptions& options, const std::string& path) {
  std::ostringstream text;
  if (std::ifstream file(path); file) text << file.rdbuf();
  if (text.str().empty()) {
    throw Error(ErrorKind::file, fmt::format("{}: cannot be read, or is empty", path));
  }
  apply_json(options, text.str(), path);
}

// data/loan.csv.gz -> loan.esp in the current folder; a folder uses its own name, also for . and ..
std::string default_output(const std::string& table) {
  if (table == "-" || table.find_first_of("*?[") != table.npos || table.starts_with('@'))
    return "model.esp";
  const std::filesystem::path path = std::filesystem::absolute(table).lexically_normal();
  std::filesystem::path name =
      path.has_filename() ? path.filename() : path.parent_path().filename();
  if (name.extension() == ".gz") name = name.stem();
  std::string stem = name.stem().string();
  stem.erase(0, stem.find_first_not_of('.'));  // the model is not a hidden file
  return (stem.empty() ? "model" : stem) + ".esp";
}

// The same columns with the same types as the training data.
Table read_valid(const TrainingFlags& flags, const Table& table, const TablePlace& place) {
  CsvOptions csv = flags.csv;
  csv.drop.clear();
  for (const Column& column : table.columns) {
    csv.only.push_back(column.name);
    csv.types[column.name] = column.type;
  }
  return place.disk ? read_csv_to_disk(flags.valid, csv, {place.disk->path}, place.piece_bytes)
                    : read_csv(flags.valid, csv);
}

// Printed with --quiet too, because they are warnings.
void warn_of_flags(const TrainingFlags& flags) {
  if (flags.quiet && flags.verbose) warn_of_idle_flags({{"--verbose", true}}, "--quiet is given");
  if (flags.valid.empty() || !share_files(flags.table, flags.valid)) return;
  tell(
      fmt::format("espalier: warning: --valid: '{}' has a file of the training data, so the "
                  "validation loss says nothing about new rows; name another file",
                  flags.valid));
}

std::size_t count(const Schema& schema, Monotonicity monotonicity) {
  return static_cast<std::size_t>(
      std::ranges::count(schema.features, monotonicity, &Feature::monotonicity));
}

std::string search_text(const TrainResult& result) {
  const auto share = [&](double seconds) { return 100 * seconds / result.seconds; };
  std::string text;
  if (result.search_seconds > 0)
    text += fmt::format(", {:.0f} % of it to choose pairs of columns or lattices",
                        share(result.search_seconds));
  if (result.tree_seconds > 0)
    text += fmt::format(", {:.0f} % {}to grow trees", share(result.tree_seconds),
                        text.empty() ? "of it " : "");
  return text;
}

std::string best_text(const TrainResult& result) {
  std::vector<int> epochs, lasts(result.best.size(), 0);
  for (const Epoch& best : result.best) epochs.push_back(best.epoch);
  if (result.options.schedule != Schedule::averaged)
    return fmt::format("{} of {}", fmt::join(epochs, ", "), result.options.epochs);
  for (const Epoch& epoch : result.history) {
    const auto member = static_cast<std::size_t>(epoch.member);
    if (member <= lasts.size()) lasts[member - 1] = epoch.epoch;
  }
  return fmt::format("{} of {}", fmt::join(epochs, ", "), fmt::join(lasts, ", "));
}

Json json_of(const std::vector<Epoch>& epochs) {
  Json json = Json::array();
  for (const Epoch& epoch : epochs) {
    json.push_back({{"member", epoch.member},
                    {"epoch", epoch.epoch},
                    {"train_loss", epoch.train_loss},
                    {"valid_metric", epoch.valid_metric}});
  }
  return json;
}

}  // namespace

void add_training_flags(CLI::App& app, TrainingFlags& flags, const std::string& line) {
  app.add_option("DATA", flags.table,
                 "a CSV file, a folder or 'pattern*.csv' of several files, or - for standard input")
      ->required();
  // First, because flags are processed in the order of definition: later ones override the file.
  const CLI::callback_t config = [&flags](const CLI::results_t& texts) {
    flags.config = texts.back();
    apply_config(flags.options, flags.config);
    return true;
  };
  app.add_option("--config", config,
                 "a JSON file of settings: the names of the flags with _ instead of -")
      ->type_name("FILE");
  app.add_option(
         "-o,--output", flags.output,
         "the model file (default: the name of the data file with .esp, in the current folder)")
      ->type_name("FILE");
  app.add_option("--valid", flags.valid,
                 "the validation set, instead of --valid-fraction of the training data")
      ->type_name("FILE");
  app.add_flag("--quiet", flags.quiet, "print only warnings and errors");
  app.add_flag("--verbose", flags.verbose, "print a line for " + line);
  app.add_flag("--json", flags.json, "print a summary as one JSON object to standard output");
  add_table_flags(app, flags.csv);
  add_column_flags(app, flags.csv);
  add_fields(app, flags.options, "Training");
}

void settle_training_flags(TrainingFlags& flags, CommandFiles files) {
  flags.ranks = join_ranks();
  if (!flags.is_first()) {
    flags.quiet = true;
    flags.verbose = flags.json = false;
  }
  if (flags.output.empty()) flags.output = default_output(flags.table);
  check_table_flags(flags.csv);
  if (flags.options.label.empty()) {
    throw Error(ErrorKind::argument, "--label is missing: it names the column to predict");
  }
  if (flags.output == "-") {
    throw Error(ErrorKind::argument, "-o: a model cannot go to standard output, name a file");
  }
  if (flags.table == "-" && flags.valid == "-") {
    throw Error(ErrorKind::argument, "--valid: standard input is already the training table");
  }
  if (flags.ranks != nullptr && (flags.table == "-" || flags.valid == "-")) {
    throw Error(ErrorKind::argument,
                "only the first of several ranks has the standard input: name a file");
  }
  validate(flags.options);
  flags.csv.threads = flags.options.threads;
  if (!flags.is_first()) return;
  files.outputs.insert(files.outputs.begin(), {"-o", flags.output});
  files.inputs = {{"the file of --config", flags.config}};
  files.datasets = {{"the training data", flags.table}, {"the data of --valid", flags.valid}};
  check_files(files);
  warn_of_flags(flags);
}

SignalAnswer::Answer StopOnSignal::answer() {
  if (!keeps_) {
    say_("espalier: ended before there was a model: none was written");
    return SignalAnswer::Answer::end;
  }
  stop_.request_stop();
  say_(fmt::format("espalier: stopping with {}; once more ends at once", best_));
  return SignalAnswer::Answer::will_stop;
}

TrainingTables read_tables(const TrainingFlags& flags, const TablePlace& place, bool divides_rows) {
  TrainingTables tables;
  std::optional<Table> share;
  if (divides_rows && flags.ranks != nullptr) {
    share = read_csv_of_rank(flags.table, flags.csv, place.disk.value_or(DiskFolder()),
                             *flags.ranks, place.piece_bytes);
  }
  const auto read = [&] {
    tables.train = place.disk
                       ? read_csv_to_disk(flags.table, flags.csv, *place.disk, place.piece_bytes)
                       : read_csv(flags.table, flags.csv);
  };
  if (share) {
    tables.train = *std::move(share);
  } else if (place.disk && place.disk->keeps) {  // ranks on one machine have the same folder
    in_turn(flags.ranks, read);
  } else {
    read();
  }
  if (!flags.valid.empty()) tables.valid = read_valid(flags, tables.train, place);
  return tables;
}

Certificate save_proven(const Model& model, const std::string& path) {
  Certificate proof = verify(model);
  if (!proof.holds()) {
    throw Error(ErrorKind::format,
                fmt::format("the trained model is not monotone and was not saved: {}",
                            fmt::join(proof.culprits, "; ")));
  }
  model.save(path);
  return proof;
}

// Names and values in two columns.
static std::string in_columns(const std::vector<std::pair<std::string, std::string>>& lines) {
  std::size_t width = 0;
  for (const auto& line : lines) width = std::max(width, line.first.size());
  std::string text;
  for (const auto& [name, value] : lines)
    text += fmt::format("{}{:<{}}  {}", text.empty() ? "" : "\n", name, width, value);
  return text;
}

std::string summary_text(const TrainResult& result, const Certificate& proof,
                         const std::string& path) {
  const Schema& schema = result.model.schema();
  std::string metrics;
  for (const auto& [metric, value] : result.valid_metrics) {
    metrics += fmt::format("{}{} {:.5g}", metrics.empty() ? "" : ", ", to_word(metric), value);
  }
  const bool is_ensemble = result.best.size() > 1;
  std::vector<std::pair<std::string, std::string>> lines = {
      {"rows",
       fmt::format("{} to train{}, {} to choose the epoch{}", result.train_rows,
                   is_ensemble ? " each network" : "", result.valid_rows, is_ensemble ? "s" : "")},
      {"features", fmt::format("{}: {} increasing, {} decreasing", schema.features.size(),
                               count(schema, Monotonicity::increasing),
                               count(schema, Monotonicity::decreasing))},
      {"architecture", result.model.architecture()},
      {"parameters", fmt::format("{}", result.model.num_parameters())}};
  for (const Choice& choice : result.choices)
    lines.emplace_back(choice.setting,
                       fmt::format("{}: {}", escape_controls(choice.value), choice.why));
  lines.emplace_back("best epoch", best_text(result) + (result.stopped ? ", stopped early" : ""));
  if (!metrics.empty()) lines.emplace_back("validation", metrics);
  lines.emplace_back("time", fmt::format("{:.1f} s{}", result.seconds, search_text(result)));
  lines.emplace_back("proof", fmt::format("{} inequalities, {} violated, tolerance 0",
                                          proof.inequalities, proof.violations));
  lines.emplace_back("model", path);
  return in_columns(lines);
}

Json summary_json(const TrainResult& result, const Certificate& proof, const std::string& path) {
  const Schema& schema = result.model.schema();
  return {{"model", path},
          {"train_rows", result.train_rows},
          {"valid_rows", result.valid_rows},
          {"features", schema.features.size()},
          {"increasing", count(schema, Monotonicity::increasing)},
          {"decreasing", count(schema, Monotonicity::decreasing)},
          {"architecture", result.model.architecture()},
          {"parameters", result.model.num_parameters()},
          {"members", result.model.num_members()},
          {"metric", to_word(result.metric)},
          {"metrics", json_of(result.valid_metrics)},
          {"best", json_of(result.best)},
          {"history", json_of(result.history)},
          {"stopped", result.stopped},
          {"seconds", result.seconds},
          {"search_seconds", result.search_seconds},
          {"tree_seconds", result.tree_seconds},
          {"choices", Json::parse(choices_to_json(result.choices), "choices")},
          {"options", Json::parse(to_json(result.options))},
          {"certificate", json_of(proof)}};
}

}  // namespace espalier
