// SPDX-License-Identifier: Apache-2.0
// espalier train TABLE --label L: a model from a table, proved monotone before it is saved.
#include "espalier/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "commands.h"
#include "espalier/certificate.h"
#include "espalier/csv.h"
#include "flags.h"
#include "output.h"
#include "progress.h"

namespace espalier {
namespace {

struct Flags {
  std::string table;
  std::string valid;
  std::string output;
  TrainOptions options;
  CsvOptions csv;
  TrainControl control;  // what flags set of it
  bool quiet = false;
  bool verbose = false;
  bool json = false;
};

// While one of these lives, the first SIGINT or SIGTERM only asks to stop; a second one kills.
class StopOnSignal {
 public:
  StopOnSignal() {
    struct sigaction action {};
    action.sa_handler = [](int) { asked_ = 1; };
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    ::sigaction(SIGINT, &action, &old_interrupt_);
    ::sigaction(SIGTERM, &action, &old_terminate_);
  }
  ~StopOnSignal() {
    ::sigaction(SIGINT, &old_interrupt_, nullptr);
    ::sigaction(SIGTERM, &old_terminate_, nullptr);
  }
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  static bool asked() { return asked_ != 0; }

 private:
  static inline volatile std::sig_atomic_t asked_ = 0;
  struct sigaction old_interrupt_ {};
  struct sigaction old_terminate_ {};
};

void apply_config(TrainOptions& options, const std::string& path) {
  std::ostringstream text;
  if (std::ifstream file(path); file) text << file.rdbuf();
  if (text.str().empty()) {
    throw Error(ErrorKind::file, fmt::format("{}: cannot be read, or is empty", path));
  }
  apply_json(options, text.str(), path);
}

// data/loan.csv.gz -> loan.esp in the current folder
std::string default_output(const std::string& table) {
  if (table == "-") return "model.esp";
  std::filesystem::path name = std::filesystem::path(table).filename();
  if (name.extension() == ".gz") name = name.stem();
  return name.stem().string() + ".esp";
}

// The same columns with the same types as the training rows.
Table read_valid(const Flags& flags, const Table& table) {
  CsvOptions csv = flags.csv;
  csv.drop.clear();
  for (const Column& column : table.columns) {
    csv.only.push_back(column.name);
    csv.types[column.name] = column.type;
  }
  return read_csv(flags.valid, csv);
}

TrainResult train_with_progress(const Flags& flags, Table&& table, const Table* valid) {
  ProgressBar bar(flags.quiet ? Talk::quiet : flags.verbose ? Talk::verbose : Talk::normal);
  std::stop_source stop;
  TrainControl control = flags.control;
  control.valid = valid;
  control.stop = stop.get_token();
  control.warning = [&bar](const std::string& text) { bar.say("espalier: warning: " + text); };
  control.progress = [&bar, &stop](const Progress& progress) {
    if (StopOnSignal::asked() && stop.request_stop()) {
      bar.say("espalier: stopping with the best model so far; once more ends at once");
    }
    bar.show(progress);
  };
  return train(std::move(table), flags.options, control);
}

std::size_t count(const Schema& schema, Monotonicity monotonicity) {
  return static_cast<std::size_t>(
      std::ranges::count(schema.features, monotonicity, &Feature::monotonicity));
}

std::string best_text(const TrainResult& result) {
  std::vector<int> epochs;
  for (const Epoch& best : result.best) epochs.push_back(best.epoch);
  return fmt::format("{} of {}", fmt::join(epochs, ", "), result.options.epochs);
}

std::string search_text(const TrainResult& result) {
  if (result.search_seconds == 0) return {};
  return fmt::format(", {:.0f} % of it to choose which features share a lattice",
                     100 * result.search_seconds / result.seconds);
}

std::string summary_text(const TrainResult& result, const Certificate& proof,
                         const std::string& path) {
  const Schema& schema = result.model.schema();
  std::string metrics;
  for (const auto& [metric, value] : result.valid_metrics) {
    metrics += fmt::format("{}{} {:.5g}", metrics.empty() ? "" : ", ", to_word(metric), value);
  }
  std::string text = fmt::format("rows          {} to train, {} to choose the epoch\n",
                                 result.train_rows, result.valid_rows);
  text +=
      fmt::format("features      {}: {} increasing, {} decreasing\n", schema.features.size(),
                  count(schema, Monotonicity::increasing), count(schema, Monotonicity::decreasing));
  text += fmt::format("architecture  {}\n", result.model.architecture());
  text += fmt::format("parameters    {}\n", result.model.num_parameters());
  text += fmt::format("best epoch    {}{}\n", best_text(result),
                      result.stopped ? ", stopped early" : "");
  if (!metrics.empty()) text += fmt::format("validation    {}\n", metrics);
  text += fmt::format("time          {:.1f} s{}\n", result.seconds, search_text(result));
  text += fmt::format("proof         {} inequalities, {} violated, tolerance 0\n",
                      proof.inequalities, proof.violations);
  return text + fmt::format("model         {}", path);
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
          {"options", Json::parse(to_json(result.options))},
          {"certificate", json_of(proof)}};
}

void check(const Flags& flags) {
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
  validate(flags.options);
  check_output(flags.output, flags.table);
  if (!flags.valid.empty()) check_output(flags.output, flags.valid);
  const std::filesystem::path output = flags.output, folder = flags.control.checkpoint;
  std::error_code ignored;
  if (output.filename() == "checkpoint" &&
      std::filesystem::equivalent(std::filesystem::absolute(output).parent_path(), folder, ignored))
    throw Error(ErrorKind::argument, fmt::format("-o: {} is the checkpoint's", flags.output));
}

int run(Flags& flags) {
  if (flags.output.empty()) flags.output = default_output(flags.table);
  check(flags);
  flags.csv.threads = flags.options.threads;
  Table table = read_csv(flags.table, flags.csv);
  const Table valid = flags.valid.empty() ? Table() : read_valid(flags, table);

  const StopOnSignal until_saved;
  const TrainResult result =
      train_with_progress(flags, std::move(table), flags.valid.empty() ? nullptr : &valid);
  const Certificate proof = verify(result.model);
  if (!proof.holds()) {
    throw Error(ErrorKind::format,
                fmt::format("the trained model is not monotone and was not saved: {}",
                            fmt::join(proof.culprits, "; ")));
  }
  result.model.save(flags.output);
  const std::string& checkpoint = flags.control.checkpoint;
  if (!checkpoint.empty() && !result.stopped) remove_checkpoint(checkpoint);
  if (!flags.quiet) tell(summary_text(result, proof, flags.output));
  if (!flags.quiet && !checkpoint.empty() && result.stopped)
    tell("espalier: the same command with --resume trains on from here");
  if (flags.json) print_json(summary_json(result, proof, flags.output));
  return 0;
}

void add_checkpoint_flags(CLI::App& app, TrainControl& control) {
  CLI::Option* const folder =
      app.add_option("--checkpoint", control.checkpoint,
                     "a folder to keep the state of this run in, so that it can be resumed after a "
                     "crash")
          ->type_name("DIR");
  app.add_flag("--resume", control.resume,
               "continue from the checkpoint, or begin if there is none; the model is the same as "
               "without a crash")
      ->needs(folder);
  const Field seconds{"checkpoint_seconds",
                      "at most this long from one checkpoint to the next; 0: one a step", 0, 1e6};
  add_field(app, seconds, control.checkpoint_seconds)->needs(folder);
}

}  // namespace

Run define_train(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  app.add_option("TABLE", flags->table, "a CSV file, or - for standard input")->required();
  // First, because flags are read in the order they are defined in: the others override the file.
  const CLI::callback_t config = [flags](const CLI::results_t& texts) {
    apply_config(flags->options, texts.back());
    return true;
  };
  app.add_option("--config", config,
                 "a JSON file of settings, named as the flags are but with _ for -")
      ->type_name("FILE");
  app.add_option("-o,--output", flags->output,
                 "the model file (default: the table's name with .esp, in the current folder)")
      ->type_name("FILE");
  app.add_option("--valid", flags->valid,
                 "a table to choose the epoch on, instead of --valid-fraction")
      ->type_name("FILE");
  add_checkpoint_flags(app, flags->control);
  app.add_flag("--quiet", flags->quiet, "say nothing but warnings and errors");
  app.add_flag("--verbose", flags->verbose, "print a line an epoch");
  app.add_flag("--json", flags->json, "print a summary as one JSON object on standard output");
  add_table_flags(app, flags->csv);
  add_column_flags(app, flags->csv);
  add_fields(app, flags->options, "Training");
  return [flags] { return run(*flags); };
}

}  // namespace espalier
