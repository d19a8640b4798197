// SPDX-License-Identifier: Apache-2.0
// espalier train DATA --label L: trains a model and verifies it before saving.
#include "espalier/train.h"

#include <fmt/format.h>

#include <filesystem>

#include "commands.h"
#include "disk.h"
#include "flags.h"
#include "training.h"

namespace espalier {
namespace {

struct TrainFlags {
  TrainingFlags training;
  TrainControl control;  // set by flags
  DiskFlags disk;
};

TrainResult train_with_progress(const TrainFlags& flags, TrainingTables& tables, ProgressBar& bar,
                                StopOnSignal& stop) {
  TrainControl control = flags.control;
  if (!flags.training.valid.empty()) control.valid = &tables.valid;
  control.stop = stop.token();
  control.ranks = flags.training.ranks;
  if (flags.training.is_first())
    control.warning = [&bar](const std::string& text) { bar.say("espalier: warning: " + text); };
  control.progress = [&](const Progress& progress) {
    if (progress.member > 1 || progress.last.epoch > 0) stop.keep();
    bar.show(progress);
  };
  return train(std::move(tables.train), flags.training.options, control);
}

// The files written besides the model. A checkpoint folder that does not exist yet has no file.
CommandFiles files_of(const TrainFlags& flags) {
  const std::string& checkpoint = flags.control.checkpoint;
  CommandFiles files{.folders = {{"--cache", flags.disk.cache}, {"--checkpoint", checkpoint}}};
  std::error_code ignored;
  if (std::filesystem::is_directory(checkpoint, ignored))
    files.outputs = {{"--checkpoint", (std::filesystem::path(checkpoint) / "checkpoint").string()}};
  return files;
}

int run_train(TrainFlags& flags) {
  TrainingFlags& training = flags.training;
  const std::string& checkpoint = flags.control.checkpoint;
  settle_training_flags(training, files_of(flags));
  ProgressBar bar(training.talk());
  StopOnSignal stop("the best model so far", [&](const std::string& line) {
    if (training.is_first()) bar.say(line);
  });
  const TablePlace place =
      choose_place(flags.disk, training.table, training.output, [&](const std::string& line) {
        if (!training.quiet) bar.say(line);
      });
  if (place.disk) flags.control.scratch = place.disk->path;
  flags.control.memory = place.memory;
  TrainingTables tables = read_tables(training, place, true);
  const TrainResult result = train_with_progress(flags, tables, bar, stop);
  bar.clear();
  if (!training.is_first()) return 0;
  const Certificate proof = save_proven(result.model, training.output);
  if (!checkpoint.empty() && !result.stopped) remove_checkpoint(checkpoint);
  if (!training.quiet) tell(summary_text(result, proof, training.output));
  if (!training.quiet && !checkpoint.empty() && result.stopped)
    tell("espalier: the same command with --resume trains on from here");
  if (training.json) print_json(summary_json(result, proof, training.output));
  return 0;
}

void add_checkpoint_flags(CLI::App& app, TrainControl& control) {
  CLI::Option* const folder =
      app.add_option("--checkpoint", control.checkpoint,
                     "a folder for the state of this run, so that --resume can continue it after a "
                     "crash")
          ->type_name("DIR");
  app.add_flag("--resume", control.resume,
               "continue from the checkpoint, or start if there is none; the model is the same as "
               "without the interruption")
      ->needs(folder);
  const Field seconds{"checkpoint_seconds",
                      "seconds between checkpoints; 0 writes one after every step", 0, 1e6};
  add_field(app, seconds, control.checkpoint_seconds)->needs(folder);
}

}  // namespace

Run define_train(CLI::App& app) {
  const auto flags = std::make_shared<TrainFlags>();
  add_training_flags(app, flags->training, "each evaluated epoch");
  add_checkpoint_flags(app, flags->control);
  add_disk_flags(app, flags->disk);
  return [flags] { return run_train(*flags); };
}

}  // namespace espalier
