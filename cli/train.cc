// SPDX-License-Identifier: Apache-2.0
// espalier train TABLE --label L: a model from a table, proved monotone before it is saved.
#include "espalier/train.h"

#include <fmt/format.h>

#include <filesystem>

#include "commands.h"
#include "flags.h"
#include "training.h"

namespace espalier {
namespace {

struct Flags {
  TrainingFlags training;
  TrainControl control;  // what flags set of it
};

TrainResult train_with_progress(const Flags& flags, TrainingTables& tables) {
  ProgressBar bar(flags.training.talk());
  std::stop_source stop;
  TrainControl control = flags.control;
  if (!flags.training.valid.empty()) control.valid = &tables.valid;
  control.stop = stop.get_token();
  control.warning = [&bar](const std::string& text) { bar.say("espalier: warning: " + text); };
  control.progress = [&bar, &stop](const Progress& progress) {
    if (StopOnSignal::asked() && stop.request_stop()) {
      bar.say("espalier: stopping with the best model so far; once more ends at once");
    }
    bar.show(progress);
  };
  return train(std::move(tables.train), flags.training.options, control);
}

void require_no_checkpoint_at(const std::filesystem::path& output, const std::string& folder) {
  std::error_code ignored;
  if (output.filename() == "checkpoint" &&
      std::filesystem::equivalent(std::filesystem::absolute(output).parent_path(), folder, ignored))
    throw Error(ErrorKind::argument, fmt::format("-o: {} is the checkpoint's", output.string()));
}

int run(Flags& flags) {
  TrainingFlags& training = flags.training;
  const std::string& checkpoint = flags.control.checkpoint;
  settle_training_flags(training);
  require_no_checkpoint_at(training.output, checkpoint);
  TrainingTables tables = read_tables(training);

  const StopOnSignal until_saved;
  const TrainResult result = train_with_progress(flags, tables);
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
                     "a folder to keep the state of this run in, so that it can be resumed after a "
                     "crash")
          ->type_name("DIR");
  app.add_flag("--resume", control.resume,
               "continue from the checkpoint, or begin if there is none; the model is the same as "
               "without a crash")
      ->needs(folder);
  const Field seconds{"checkpoint_seconds",
                      "at most this long from one checkpoint to the next; 0: one per step", 0, 1e6};
  add_field(app, seconds, control.checkpoint_seconds)->needs(folder);
}

}  // namespace

Run define_train(CLI::App& app) {
  const auto flags = std::make_shared<Flags>();
  add_training_flags(app, flags->training, "an epoch");
  add_checkpoint_flags(app, flags->control);
  return [flags] { return run(*flags); };
}

}  // namespace espalier
