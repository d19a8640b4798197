// SPDX-License-Identifier: Apache-2.0
#include "help.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>

namespace espalier {
namespace {

constexpr std::size_t kHelpColumn = 28;
constexpr std::size_t kHelpWidth = 100;
constexpr std::size_t kMaxFlags = 30;  // commands with at most this many flags show all of them

constexpr std::string_view kEverydayFlags[] = {
    // files
    "output", "valid", "config", "checkpoint", "resume", "memory", "results", "quiet", "verbose",
    "json", "help", "help-all",
    // data
    "delimiter", "missing", "categorical", "drop",
    // model
    "label", "increasing", "decreasing", "order", "task", "grades", "weight", "exposure", "loss",
    "quantile", "interactions", "architecture", "ensemble", "seed", "threads",
    // search
    "trials", "minutes", "folds", "search"};

// Formats help with descriptions in a column.
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

bool is_rare(const CLI::Option& option) {
  return !option.get_positional() &&
         std::ranges::none_of(option.get_lnames(), [](const std::string& name) {
           return std::ranges::count(kEverydayFlags, name) > 0;
         });
}

}  // namespace

void use_help_style(CLI::App& app) { app.formatter(std::make_shared<HelpFormatter>()); }

bool has_rare_flags(const CLI::App& command) { return command.get_options().size() > kMaxFlags; }

void hide_rare_flags(CLI::App& command) {
  if (!has_rare_flags(command)) return;
  int count = 0;
  for (CLI::Option* const option : command.get_options()) {
    if (!is_rare(*option)) continue;
    option->group("");
    ++count;
  }
  command.footer(
      fmt::format("espalier {} --help-all prints {} more flags.", command.get_name(), count));
}

}  // namespace espalier
