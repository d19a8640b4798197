// SPDX-License-Identifier: Apache-2.0
// bench_reproduce TABLE: a published table with our rows beside its rows.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "espalier/error.h"
#include "espalier/tune.h"
#include "espalier/version.h"
#include "files.h"
#include "flags.h"
#include "output.h"
#include "progress.h"
#include "reproduce/records.h"
#include "reproduce/report.h"
#include "reproduce/sha256.h"
#include "signals.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

// Of tune, for each model: quickly, and with --full.
constexpr int kTrials = 10;
constexpr int kFullTrials = 55;
constexpr int kFullConfirm = -1;  // as tune chooses
constexpr int kByScale = -1;      // the flag was not given

struct Flags {
  std::string table;
  std::vector<std::string> presets;  // of the models to train; none: all
  std::string output = "-";
  Budget budget{.trials = 0, .confirm = kByScale};
  bool full = false;
  bool other_data = false;
  bool json = false;
  bool quiet = false;
};

fs::path data_folder() {
  const char* const named = std::getenv("ESPALIER_DATA");
  return named != nullptr ? fs::path(named) : fs::path("../shared/data");
}

// The paths of an experiment's files. Throws Error (file) that says where to get them.
std::vector<std::string> find_files(const Experiment& experiment) {
  const fs::path folder = data_folder();
  std::vector<std::string> paths;
  std::string wanted;
  bool all_there = true;
  for (const DataFile& file : experiment.files) {
    paths.push_back((folder / file.path).string());
    std::error_code ignored;
    all_there = all_there && fs::is_regular_file(paths.back(), ignored);
    wanted += fmt::format("\n  {}  sha256 {}", file.path, file.sha256);
  }
  if (all_there) return paths;
  throw Error(ErrorKind::file,
              fmt::format("{}: the data of {} is not there; ESPALIER_DATA names the folder with\n"
                          "  files of {}{}",
                          folder.string(), experiment.name, experiment.source, wanted));
}

// What is found in the files of an experiment, and where it is not what was published.
struct Sums {
  std::vector<std::string> found;
  std::vector<std::string> doubts;
};

Sums sums_of(const Experiment& experiment, const std::vector<std::string>& paths) {
  Sums sums;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    sums.found.push_back(sha256(read_text(paths[i])));
    const DataFile& wanted = experiment.files[i];
    if (sums.found.back() == wanted.sha256) continue;
    sums.doubts.push_back(
        fmt::format("{} has sha256 {}, wanted {}", wanted.path, sums.found.back(), wanted.sha256));
  }
  return sums;
}

// Other data would give other numbers beside the published ones, so it must be asked for.
void refuse_or_warn(const Experiment& experiment, const Sums& sums, bool other_data) {
  if (sums.doubts.empty()) return;
  const std::string found = fmt::format("{}", fmt::join(sums.doubts, "\n  "));
  if (other_data) {
    tell(fmt::format("bench_reproduce: warning: not the published data, do not compare:\n  {}",
                     found));
    return;
  }
  throw Error(ErrorKind::data,
              fmt::format("{}: not the files of {}:\n  {}\n  --other-data takes them as they are",
                          data_folder().string(), experiment.source, found));
}

// The bytes of the running program: two builds of one version may train differently.
std::string program_sum() {
  try {
    return sha256(read_text("/proc/self/exe"));
  } catch (const Error&) {
    return "";
  }
}

std::string folder_of_runs(const Flags& flags) { return flags.output + ".runs"; }

// Finished runs are kept beside a report that is a file.
Records open_records(const Flags& flags, const Sums& sums) {
  const std::string folder = flags.output == "-" ? "" : folder_of_runs(flags);
  Records records(folder, {{"version", kVersion},
                           {"program", program_sum()},
                           {"table", flags.table},
                           {"full", flags.full},
                           {"data", sums.found}});
  const std::size_t count = records.count();
  if (count > 0 && !flags.quiet)
    tell(fmt::format("bench_reproduce: {}: going on with what {} finished runs left", folder,
                     count));
  return records;
}

// Leaves the models of some presets. Throws Error (argument) for one that the table does not have.
void keep_models(const std::vector<std::string>& presets, Experiment& experiment) {
  if (presets.empty()) return;
  std::vector<std::string> known;
  for (const ModelSpec& model : experiment.models) {
    if (!std::ranges::count(known, model.preset)) known.push_back(model.preset);
  }
  for (const std::string& preset : presets) {
    if (std::ranges::count(known, preset)) continue;
    throw Error(ErrorKind::argument, fmt::format("presets: {} has no model '{}'; wanted some of {}",
                                                 experiment.name, preset, fmt::join(known, ", ")));
  }
  std::erase_if(experiment.models,
                [&](const ModelSpec& model) { return !std::ranges::count(presets, model.preset); });
}

std::string command_of(const Flags& flags) {
  std::string text = fmt::format("bench_reproduce {}", flags.table);
  if (flags.full) text += " --full";
  if (flags.other_data) text += " --other-data";
  if (!flags.presets.empty()) text += fmt::format(" --presets {}", fmt::join(flags.presets, ","));
  if (flags.budget.seeds != Budget().seeds) text += fmt::format(" --seeds {}", flags.budget.seeds);
  if (flags.budget.trials != 0) text += fmt::format(" --trials {}", flags.budget.trials);
  if (flags.budget.confirm != kByScale) text += fmt::format(" --confirm {}", flags.budget.confirm);
  return text;
}

int run(const Flags& flags) {
  Experiment experiment = find_experiment(flags.table);
  keep_models(flags.presets, experiment);
  Budget budget = flags.budget;
  if (budget.trials == 0) budget.trials = flags.full ? kFullTrials : kTrials;
  if (budget.confirm == kByScale) budget.confirm = flags.full ? kFullConfirm : 0;
  const std::vector<std::string> files = find_files(experiment);
  CommandFiles paths{.outputs = {{"-o", flags.output}}};
  for (const std::string& file : files) paths.inputs.push_back({"a file of the data", file});
  if (flags.output != "-") paths.folders = {{"the folder of finished runs", folder_of_runs(flags)}};
  check_files(paths);
  const Sums sums = sums_of(experiment, files);
  refuse_or_warn(experiment, sums, flags.other_data);
  const Data data = experiment.read(files, flags.full ? Scale::full : Scale::quick);
  const Records records = open_records(flags, sums);

  CountBar bar("rows", num_rows(experiment, budget));
  const auto say = [&, done = std::size_t{0}](const ResultRow& row) mutable {
    ++done;
    if (flags.quiet) return;
    bar.clear();
    tell(fmt::format("{}: {}", experiment.name, row_line(experiment, row)));
    bar.show(done);
  };
  const Reproduction reproduction{.experiment = experiment,
                                  .train_rows = data.train.num_rows,
                                  .test_rows = data.test.num_rows,
                                  .noise_floor = data.noise_floor,
                                  .command = command_of(flags),
                                  .doubts = sums.doubts,
                                  .budget = budget,
                                  .rows = run_experiment(experiment, data, budget, records, say)};
  if (flags.output != "-" || !flags.json) write_text(report_markdown(reproduction), flags.output);
  if (flags.json) print_json(report_json(reproduction));
  records.remove();
  return 0;
}

void add_flags(CLI::App& app, Flags& flags) {
  std::string names;
  for (const Experiment& experiment : experiments())
    names += (names.empty() ? "" : ", ") + experiment.name;
  app.add_option("TABLE", flags.table, "one of " + names)->required();
  app.add_flag("--full", flags.full,
               fmt::format("{} trials a tuned model instead of {}, the best of them confirmed, and "
                           "rater-score at its full size",
                           kFullTrials, kTrials));
  app.add_flag("--other-data", flags.other_data,
               "take files whose sha256 is not the published one; the report says so");
  app.add_option("--presets", flags.presets,
                 "train only the models of these presets: dln,crystals (default all)")
      ->delimiter(',')
      ->type_name("LIST");
  add_field(app, Field{"seeds", "how often each model is trained", 1, 1000}, flags.budget.seeds);
  add_field(app, Field{"trials", "of tune, for each model; 1: nothing is tuned; 0 chooses", 0, 1e6},
            flags.budget.trials);
  add_field(app, Field{"confirm", "of tune; -1: by --full", kByScale, 1000}, flags.budget.confirm);
  add_field(app, Field{"threads", "0 uses all cores; the results do not depend on it", 0, 1024},
            flags.budget.threads);
  app.add_option("-o,--output", flags.output,
                 "where the Markdown goes (default -, standard output); finished runs wait in "
                 "FILE.runs until it is there, so that a killed command goes on")
      ->type_name("FILE");
  app.add_flag("--json", flags.json,
               "print one JSON object, every run in it; Markdown then only goes to -o");
  app.add_flag("--quiet", flags.quiet, "say nothing but warnings and errors");
}

// Exit codes are those of espalier: 0 fine, 1 failed, 2 wrong usage.
int run(int argc, char** argv) {
  CLI::App app("Trains the models of a published table and prints our rows beside its rows.",
               "bench_reproduce");
  Flags flags;
  add_flags(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return run(flags);
}

}  // namespace

}  // namespace espalier

int main(int argc, char** argv) {
  espalier::watch_signals();
  try {
    return espalier::run(argc, argv);
  } catch (const espalier::Error& error) {
    espalier::tell(fmt::format("bench_reproduce: {}", error.what()));
    return error.kind() == espalier::ErrorKind::argument ? 2 : 1;
  } catch (const std::exception& error) {
    espalier::tell(fmt::format("bench_reproduce: {}", error.what()));
    return 1;
  }
}
