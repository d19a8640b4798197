// SPDX-License-Identifier: Apache-2.0
// The program espalier: finds the command, runs it, and catches whatever goes wrong.
// Exit codes: 0 fine, 1 failed, 2 wrong usage.
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
#include "output.h"
#include "ranks.h"
#include "signals.h"

namespace espalier {
namespace {

constexpr std::size_t kHelpColumn = 28;
constexpr std::size_t kHelpWidth = 100;

struct Command {
  const char* name;
  const char* help;
  Run (*define)(CLI::App&);
};

constexpr Command kCommands[] = {
    {"train", "train a model on a table and prove that it is monotone", define_train},
    {"tune", "search for better settings and train a model with the best", define_tune},
    {"predict", "predict the rows of a table", define_predict},
    {"evaluate", "judge a model on a table with labels", define_evaluate},
    {"explain", "say why rows score as they do: the columns and their shares", define_explain},
    {"importance", "judge the columns of a model on a table with labels", define_importance},
    {"verify", "prove that a model is monotone: every inequality, tolerance 0", define_verify},
    {"inspect", "show architecture, wiring, curves and parameters of a model", define_inspect},
    {"report", "a page for people: proof, quality, curves, what-if; one HTML file", define_report},
    {"export", "write a model as source that runs without this library", define_export},
    {"simulate", "make up a table of loans whose true risk is known and monotone", define_simulate},
};

// Help whose descriptions are wrapped in a column of their own.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(kHelpColumn);
    label("Positionals", "Arguments");
    label("SUBCOMMAND", "COMMAND");
    label("OPTIONS", "FLAGS");
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string text = "  " + make_option_name(option, is_positional);
    if (!is_positional) text += make_option_opts(option);
    if (text.size() >= kHelpColumn) text += '\n';
    std::size_t column = text.back() == '\n' ? 0 : text.size();
    for (const std::string& word : CLI::detail::split(make_option_desc(option), ' ')) {
      if (column + 1 + word.size() > kHelpWidth) {
        text += '\n';
        column = 0;
      }
      const std::size_t gap = column < kHelpColumn ? kHelpColumn - column : 1;
      text += std::string(gap, ' ') + word;
      column += gap + word.size();
    }
    text += '\n';
    return text;
  }
};

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto meant = nearest_word(word, candidates);
  return meant ? fmt::format("; did you mean {}?", *meant) : "";
}

// What is wrong with an argument that nothing took.
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

// A flag that was given more often than it can be, or an empty string.
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
  CLI::App app("Deep lattice networks that rise with the inputs that must raise them.", "espalier");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", fmt::format("espalier {}", kVersion), "print the version");
  app.set_help_flag("-h,--help", "print this help");
  app.require_subcommand(1);
  std::map<const CLI::App*, Run> runs;
  for (const Command& command : kCommands) {
    CLI::App* const sub = app.add_subcommand(command.name, command.help)->group("Commands");
    runs[sub] = command.define(*sub);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
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

// What goes wrong on all ranks the first one says. One that fails alone says so itself, and ends all.
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
  std::signal(SIGPIPE, SIG_DFL);  // whoever reads us may leave early: that ends us quietly
  std::signal(SIGXFSZ, SIG_IGN);  // a file too large for its limit is an error like a full disk
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
