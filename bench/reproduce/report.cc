// SPDX-License-Identifier: Apache-2.0
#include "reproduce/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cmath>
#include <set>

#include "espalier/version.h"

namespace espalier {
namespace {

struct Spread {
  double mean;
  double sd;  // of the sample; NaN for one value
};

Spread spread_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, values.size() > 1 ? std::sqrt(squares / (n - 1)) : std::nan("")};
}

template <class Value>
Spread spread_over(const ResultRow& row, const Value& value) {
  std::vector<double> values;
  for (const Outcome& outcome : row.outcomes) values.push_back(value(outcome));
  return spread_of(values);
}

Spread test_spread(const ResultRow& row, Metric metric) {
  return spread_over(row, [&](const Outcome& outcome) { return value_of(outcome.test, metric); });
}

Spread valid_spread(const ResultRow& row, Metric metric) {
  return spread_over(row, [&](const Outcome& outcome) { return value_of(outcome.valid, metric); });
}

// Accuracies are printed in per cent.
double unit_of(Metric metric) { return metric == Metric::accuracy ? 100 : 1; }

std::string metric_name(Metric metric) {
  if (metric == Metric::accuracy) return "accuracy, %";
  if (metric == Metric::log_loss) return "log loss";
  std::string name(to_word(metric));  // an abbreviation
  for (char& letter : name) letter = static_cast<char>(std::toupper(letter));
  return name;
}

std::string number_text(double value, Metric metric) {
  return metric == Metric::accuracy ? fmt::format("{:.2f}", value) : fmt::format("{:.4f}", value);
}

std::string spread_text(const Spread& spread, Metric metric) {
  if (std::isnan(spread.mean)) return "";
  const double unit = unit_of(metric);
  std::string text = number_text(unit * spread.mean, metric);
  if (!std::isnan(spread.sd)) text += " ± " + number_text(unit * spread.sd, metric);
  return text;
}

// The distinct sizes of all runs; settings may differ between folds.
std::string sizes_text(const ResultRow& row) {
  std::set<std::string> sizes;
  for (const Outcome& outcome : row.outcomes) sizes.insert(outcome.size);
  return sizes.size() == 1 ? *sizes.begin() : "various";
}

std::string count_text(double count) {
  std::string text = fmt::format("{:.0f}", count);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string settings_name(const ResultRow& row) {
  if (row.tuned) return "tuned";
  return row.model->size.empty() ? "default size" : "the paper's size";
}

std::string line_of(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string header(const Experiment& experiment) {
  const std::string metric = metric_name(experiment.metric);
  std::vector<std::string> cells = {
      "model", "run", "G x S", "parameters", "validation " + metric, "test " + metric};
  for (const Metric also : experiment.also) cells.push_back("test " + metric_name(also));
  cells.emplace_back("training, s");
  return line_of(cells) + line_of(std::vector<std::string>(cells.size(), "---"));
}

std::string published_line(const Experiment& experiment, const PublishedRow& row) {
  // As many digits as were printed, at most.
  const auto printed = [](double value) { return value == 0 ? "" : fmt::format("{:.6g}", value); };
  const std::string test =
      printed(row.test) + (row.test_sd > 0 ? " ± " + printed(row.test_sd) : "");
  std::vector<std::string> cells = {
      row.model,          experiment.published,
      row.size,           row.parameters > 0 ? count_text(row.parameters) : "",
      printed(row.valid), test};
  cells.resize(cells.size() + experiment.also.size() + 1);
  return line_of(cells);
}

std::string our_line(const Experiment& experiment, const ResultRow& row) {
  const Spread parameters = spread_over(
      row, [](const Outcome& outcome) { return static_cast<double>(outcome.parameters); });
  const Spread seconds = spread_over(row, [](const Outcome& outcome) { return outcome.seconds; });
  std::vector<std::string> cells = {
      row.model->name,
      "ours, " + settings_name(row),
      sizes_text(row),
      count_text(parameters.mean),
      spread_text(valid_spread(row, experiment.metric), experiment.metric),
      spread_text(test_spread(row, experiment.metric), experiment.metric)};
  for (const Metric also : experiment.also)
    cells.push_back(spread_text(test_spread(row, also), also));
  cells.push_back(seconds.mean < 10 ? fmt::format("{:.2g}", seconds.mean)
                                    : fmt::format("{:.0f}", seconds.mean));
  return line_of(cells);
}

std::string protocol_heading(Protocol protocol) {
  switch (protocol) {
    case Protocol::split:
      return "";
    case Protocol::cross_validation:
      return "\n### Repeated cross-validation\nAll rows, five folds, dealt again for each seed; "
             "each fold is the test rows once, and settings are tuned without it. Mean ± standard "
             "deviation over all folds.\n\n";
    case Protocol::test_selected:
      return "\n### Selected on the test rows\nThe protocol of much of the literature: the test "
             "rows choose the epoch, and the settings of a tuned model. Too good by "
             "construction; only to compare with numbers made the same way.\n\n";
  }
  return "";
}

// Each published row stands before ours of the same model; those without one come last.
std::string protocol_table(const Reproduction& reproduction, Protocol protocol) {
  const Experiment& experiment = reproduction.experiment;
  std::string text = protocol_heading(protocol) + header(experiment);
  std::set<std::string> ours;
  const auto add_published = [&](const auto& wanted) {
    if (protocol != Protocol::split) return;
    for (const PublishedRow& row : experiment.rows) {
      if (wanted(row)) text += published_line(experiment, row);
    }
  };
  for (const ResultRow& row : reproduction.rows) {
    if (row.protocol != protocol) continue;
    const std::string& name = row.model->name;
    if (ours.insert(name).second)
      add_published([&](const PublishedRow& published) { return published.model == name; });
    text += our_line(experiment, row);
  }
  add_published([&](const PublishedRow& published) { return !ours.contains(published.model); });
  return text;
}

// "All 60 models pass verify"
std::string proof_text(const std::vector<ResultRow>& rows) {
  std::size_t models = 0, proved = 0;
  for (const ResultRow& row : rows) {
    models += row.outcomes.size();
    for (const Outcome& outcome : row.outcomes) proved += outcome.proved ? 1 : 0;
  }
  if (proved == models) return fmt::format("All {} models pass `verify`.", models);
  return fmt::format("Only {} of {} models pass `verify`.", proved, models);
}

Json json_of(const Spread& spread) { return {{"mean", spread.mean}, {"sd", spread.sd}}; }

Json json_of(const Experiment& experiment, const ResultRow& row) {
  Json runs = Json::array();
  for (const Outcome& outcome : row.outcomes) runs.push_back(json_of(outcome));
  return {{"model", row.model->name},
          {"constrained", row.model->constrained},
          {"protocol", to_word(row.protocol)},
          {"tuned", row.tuned},
          {"validation", json_of(valid_spread(row, experiment.metric))},
          {"test", json_of(test_spread(row, experiment.metric))},
          {"tune_seconds", row.tune_seconds},
          {"runs", std::move(runs)}};
}

// In the units of ours.
Json json_of(const Experiment& experiment, const PublishedRow& row) {
  const double unit = unit_of(experiment.metric);
  Json json = {{"model", row.model}, {"test", row.test / unit}};
  if (row.test_sd > 0) json["test_sd"] = row.test_sd / unit;
  if (row.valid > 0) json["validation"] = row.valid / unit;
  if (!row.size.empty()) json["size"] = row.size;
  if (row.parameters > 0) json["parameters"] = row.parameters;
  return json;
}

}  // namespace

std::string report_markdown(const Reproduction& reproduction) {
  const Experiment& experiment = reproduction.experiment;
  std::string text = fmt::format("## {}\n{}\n\n", experiment.title, experiment.about);
  text += fmt::format(
      "`{}` (espalier {}): {} rows to train and validate, {} to test; mean ± "
      "standard deviation over seeds 1 to {}",
      reproduction.command, kVersion, count_text(static_cast<double>(reproduction.train_rows)),
      count_text(static_cast<double>(reproduction.test_rows)), reproduction.budget.seeds);
  if (reproduction.budget.tunes())
    text += fmt::format("; {} trials a tuned model", reproduction.budget.trials);
  text += ". " + proof_text(reproduction.rows);
  if (!std::isnan(reproduction.noise_floor)) {
    text += fmt::format(" A model that knew the truth would have a test {} of {}.",
                        metric_name(experiment.metric),
                        number_text(reproduction.noise_floor, experiment.metric));
  }
  text += "\n\n";
  if (!reproduction.doubts.empty()) {
    text += fmt::format("**Not the published data, do not compare**: {}.\n\n",
                        fmt::join(reproduction.doubts, "; "));
  }
  for (const Protocol protocol : experiment.protocols)
    text += protocol_table(reproduction, protocol);
  return text;
}

Json report_json(const Reproduction& reproduction) {
  const Experiment& experiment = reproduction.experiment;
  Json published = Json::array(), rows = Json::array();
  for (const PublishedRow& row : experiment.rows) published.push_back(json_of(experiment, row));
  for (const ResultRow& row : reproduction.rows) rows.push_back(json_of(experiment, row));
  return {{"table", experiment.name},
          {"title", experiment.title},
          {"about", experiment.about},
          {"command", reproduction.command},
          {"doubts", reproduction.doubts},
          {"version", kVersion},
          {"metric", to_word(experiment.metric)},
          {"train_rows", reproduction.train_rows},
          {"test_rows", reproduction.test_rows},
          {"noise_floor", reproduction.noise_floor},  // null if it is NaN
          {"seeds", reproduction.budget.seeds},
          {"trials", reproduction.budget.trials},
          {"published", std::move(published)},
          {"ours", std::move(rows)}};
}

std::string row_line(const Experiment& experiment, const ResultRow& row) {
  return fmt::format("{}, {}, {}: test {} {}", row.model->name, settings_name(row),
                     to_word(row.protocol), metric_name(experiment.metric),
                     spread_text(test_spread(row, experiment.metric), experiment.metric));
}

}  // namespace espalier
