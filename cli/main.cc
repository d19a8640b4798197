// SPDX-License-Identifier: Apache-2.0
// The program espalier: parses the command, runs it and reports errors. Exit codes: 0 success, 1
// failure, 2 wrong usage.
#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <iostream>
#include <map>
#include <thread>

#include "commands.h"
#include "espalier/error.h"
#include "espalier/text.h"
#include "espalier/version.h"
#include "flags.h"
#include "help.h"
#include "output.h"
#include "ranks.h"
#include "signals.h"

namespace espalier {
namespace {

struct Command {
  const char* name;
  const char* help;
  Run (*define)(CLI::App&);
};

constexpr Command kCommands[] = {
    {"train", "train a model and verify that it is monotonic", define_train},
    {"tune", "search for better settings and train a model with the best ones", define_tune},
    {"predict", "predict every row of a data file", define_predict},
    {"evaluate", "compute the metrics of a model on labeled data", define_evaluate},
    {"explain", "explain scores by Shapley values of the features", define_explain},
    {"importance", "measure how much each feature matters on labeled data", define_importance},
    {"verify", "verify that a model is monotonic: every inequality, tolerance 0", define_verify},
    {"inspect", "print the architecture, curves and parameters of a model", define_inspect},
    {"report", "write an HTML page: verification, quality, curves, what-if", define_report},
    {"export", "write a model as a C++ header or as ONNX", define_export},
    {"simulate", "generate synthetic loans with a known monotonic risk", define_simulate},
};

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto meant = nearest_word(word, candidates);
  return meant ? fmt::format("; did you mean {}?", *meant) : "";
}

// The message for an unknown argument.
std::string unexpected(const CLI::App& app, std::string_view argument) {
  const std::string_view word = argument.substr(0, argument.find('='));
  std::vector<std::string> candidates;
  if (word.starts_with('-')) {
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) candidates.push_back("--" + name);
    }
    return fmt::format("unknown flag {}{}", word, did_you_mean(word, candidates));
  }
  if (app.get_parent() != nullptr) return fmt::format("unexpected argument '{}'", argument);
  for (const Command& command : kCommands) candidates.emplace_back(command.name);
  return fmt::format("unknown command '{}'{}", word, did_you_mean(word, candidates));
}

// A flag that was given too often, or an empty string.
std::string repeated(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::size_t times = option->results().size();
    if (option->get_items_expected_max() == 1 && times > 1 &&
        option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw)
      return fmt::format("{} is given {} times; wanted once", option->get_name(), times);
  }
  return {};
}

int usage_error(const CLI::App& main_app, const CLI::ParseError& error) {
  const auto chosen = main_app.get_subcommands();
  const CLI::App& app = chosen.empty() ? main_app : *chosen.front();
  const std::vector<std::string> extras = app.remaining();
  std::string message = error.what();
  if (!extras.empty()) {
    message = unexpected(app, extras.front());
  } else if (chosen.empty()) {
    message = "a command is missing";
  } else if (const std::string flag = repeated(app); !flag.empty()) {
    message = flag;
  }
  const std::string name = chosen.empty() ? "espalier" : "espalier " + app.get_name();
  if (launched_rank() == 0) tell(fmt::format("espalier: {}\nSee {} --help.", message, name));
  return 2;
}

int run(int argc, char** argv) {
  CLI::App app("Trains models on tabular data and proves that predictions are monotonic.",
               "espalier");
  use_help_style(app);
  app.set_version_flag("--version", fmt::format("espalier {}", kVersion), "print the version");
  app.set_help_flag("-h,--help", "print this help");
  app.require_subcommand(1);
  std::map<const CLI::App*, Run> runs;
  for (const Command& command : kCommands) {
    CLI::App* const sub = app.add_subcommand(command.name, command.help)->group("Commands");
    runs[sub] = command.define(*sub);
    if (has_rare_flags(*sub)) sub->set_help_all_flag("--help-all", "print all flags");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    for (CLI::App* const sub : app.get_subcommands()) hide_rare_flags(*sub);
    print(app.help());
    return 0;
  } catch (const CLI::CallForAllHelp&) {
    print(app.help());
    return 0;
  } catch (const CLI::CallForVersion& version) {
    print(fmt::format("{}\n", version.what()));
    return 0;
  } catch (const CLI::ParseError& error) {
    return usage_error(app, error);
  }
  return runs.at(app.get_subcommands().front())();
}

// An error on all ranks is printed by the first rank. A rank that fails alone prints its error and
// ends all ranks.
constexpr std::chrono::seconds kTimeOfTheFirst{2};

int fail(std::string_view message, int code) {
  const int rank = launched_rank();
  if (rank > 0) std::this_thread::sleep_for(kTimeOfTheFirst);
  tell(rank > 0 ? fmt::format("espalier: rank {}: {}", rank, message)
                : fmt::format("espalier: {}", message));
  end_ranks(code);
  return code;
}

}  // namespace
}  // namespace espalier

int main(int argc, char** argv) {
  espalier::watch_signals();
  std::signal(SIGPIPE, SIG_DFL);  // a closed pipe ends the program quietly
  std::signal(SIGXFSZ, SIG_IGN);  // exceeding a file size limit is an error like a full disk
  std::ios::sync_with_stdio(false);
  try {
    const int code = espalier::run(argc, argv);
    espalier::leave_ranks();
    return code;
  } catch (const espalier::Error& error) {
    return espalier::fail(error.what(), error.kind() == espalier::ErrorKind::argument ? 2 : 1);
  } catch (const std::bad_alloc&) {
    return espalier::fail("not enough memory for this table or model", 1);
  } catch (const std::exception& error) {
    return espalier::fail(error.what(), 1);
  } catch (...) {
    return espalier::fail("an unknown error", 1);
  }
}
