// SPDX-License-Identifier: Apache-2.0
// espalier explain MODEL DATA: for each row the score, the baseline score, and the features with
// the largest Shapley values.
#include "espalier/explain.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "baseline.h"
#include "commands.h"
#include "espalier/outputs.h"
#include "espalier/predictor.h"
#include "files.h"
#include "flags.h"
#include "output.h"
#include "progress.h"

namespace espalier {
namespace {

constexpr std::size_t kRowsAtOnce = 10'000;  // whose shares are held in memory

struct ExplainFlags {
  std::string model;
  std::string table;
  std::string output = "-";
  std::string baseline;
  std::string reasons;
  std::vector<std::string> keep;
  CsvOptions csv;
  int top = 4;
  Adverse adverse = Adverse::either;
  ExplainOptions options;
  bool json = false;
};

// A feature in the explanation of a row.
struct Reason {
  std::size_t feature;
  float share;
};

// The explanation of a row.
struct Answer {
  std::size_t output;
  float score;
  float baseline;
  std::vector<Reason> reasons;
  float rest;                 // the rest of the difference, without the reasons
  float error;                // the largest standard error of a Shapley value
  std::vector<float> shares;  // for JSON only
};

// The text of each feature: from the reasons file, or its name.
std::vector<std::string> read_sentences(const Model& model, const std::string& path) {
  std::vector<std::string> sentences;
  for (const Feature& feature : model.schema().features) sentences.push_back(feature.name);
  if (path.empty()) return sentences;
  const Table table =
      read_csv(path, {.types = {{"column", ColumnType::category}, {"reason", ColumnType::category}},
                      .only = {"column", "reason"}});
  const Column& columns = *table.find("column");
  const Column& reasons = *table.find("reason");
  std::map<std::string, std::string> by_column;
  for (std::size_t r = 0; r < table.num_rows; ++r) {
    const auto word = [r](const Column& column) {
      const std::int32_t code = column.category_codes()[r];
      return code == kMissingCode ? std::string()
                                  : column.categories[static_cast<std::size_t>(code)];
    };
    const std::string name = word(columns), sentence = word(reasons);
    if (name.empty() || sentence.empty()) {
      throw Error(ErrorKind::data, fmt::format("{}: row {}: '{}' and '{}'; wanted a column and its "
                                               "reason",
                                               table.name, r + 1, name, sentence));
    }
    if (!by_column.emplace(name, sentence).second)
      throw Error(ErrorKind::data, fmt::format("{}: column '{}' has two reasons", path, name));
  }
  for (std::size_t f = 0; f < sentences.size(); ++f) {
    const auto found = by_column.find(sentences[f]);
    if (found == by_column.end()) {
      tell(fmt::format("espalier: warning: {}: no reason for column '{}'; its name stands for it",
                       path, sentences[f]));
      continue;
    }
    sentences[f] = found->second;
    by_column.erase(found);
  }
  for (const auto& [name, sentence] : by_column)
    tell(fmt::format("espalier: warning: {}: the model has no column '{}'", path, name));
  return sentences;
}

Answer answer_of(const ExplainFlags& flags, const Explanation& why, std::size_t row) {
  Answer answer{
      .output = why.outputs[row], .score = why.scores[row], .baseline = why.baselines[row]};
  const auto top = static_cast<std::size_t>(flags.top);
  const std::span<const double> shares = why.shares_of(row);
  double rest = 0, error = 0;
  for (const std::size_t f : top_columns(shares, top, flags.adverse))
    answer.reasons.push_back({f, static_cast<float>(shares[f])});
  for (std::size_t f = 0; f < shares.size(); ++f) {
    error = std::max(error, why.errors_of(row)[f]);
    if (std::ranges::find(answer.reasons, f, &Reason::feature) == answer.reasons.end())
      rest += shares[f];
  }
  answer.rest = static_cast<float>(rest);
  answer.error = static_cast<float>(error);
  if (flags.json) {
    for (const double share : why.shares_of(row))
      answer.shares.push_back(static_cast<float>(share));
  }
  return answer;
}

std::vector<Answer> answers_of(const ExplainFlags& flags, const Predictor& predictor,
                               std::span<const float> rows, const std::vector<float>& baseline) {
  const std::size_t width = predictor.num_cells(), count = rows.size() / width;
  std::vector<Answer> answers;
  CountBar bar("rows", count);
  ExplainOptions options = flags.options;
  options.progress = [&](std::size_t done) { bar.show(answers.size() + done); };
  while (answers.size() < count) {
    const std::size_t first = answers.size(), now = std::min(kRowsAtOnce, count - first);
    const Explanation why =
        explain(predictor, rows.subspan(first * width, now * width), baseline, options);
    for (std::size_t r = 0; r < now; ++r) answers.push_back(answer_of(flags, why, r));
  }
  bar.clear();
  return answers;
}

template <class Value>
Column numbers(std::string name, const std::vector<Answer>& answers, const Value& value) {
  Column column{.name = std::move(name)};
  for (const Answer& answer : answers) column.numbers.push_back(value(answer));
  return column;
}

template <class Code>
Column words(std::string name, std::vector<std::string> list, const std::vector<Answer>& answers,
             const Code& code) {
  Column column{
      .name = std::move(name), .type = ColumnType::category, .categories = std::move(list)};
  for (const Answer& answer : answers)
    column.codes.push_back(static_cast<std::int32_t>(code(answer)));
  return column;
}

// The columns after the kept ones: score, baseline, reasons with Shapley values, rest and error.
std::vector<Column> answer_columns(const ExplainFlags& flags, const Label& label,
                                   const std::vector<std::string>& sentences,
                                   const std::vector<Answer>& answers) {
  std::vector<Column> columns;
  if (label.num_scores() > 1) {
    columns.push_back(words("output", output_names(label), answers,
                            [](const Answer& answer) { return answer.output; }));
  }
  columns.push_back(numbers("score", answers, [](const Answer& a) { return a.score; }));
  columns.push_back(numbers("baseline", answers, [](const Answer& a) { return a.baseline; }));
  for (std::size_t i = 0; i < static_cast<std::size_t>(flags.top); ++i) {
    columns.push_back(
        words(fmt::format("reason_{}", i + 1), sentences, answers, [i](const Answer& answer) {
          return i < answer.reasons.size() ? static_cast<int>(answer.reasons[i].feature)
                                           : kMissingCode;
        }));
    columns.push_back(numbers(fmt::format("share_{}", i + 1), answers, [i](const Answer& answer) {
      return i < answer.reasons.size() ? answer.reasons[i].share : NAN;
    }));
  }
  columns.push_back(numbers("rest", answers, [](const Answer& a) { return a.rest; }));
  columns.push_back(numbers("error", answers, [](const Answer& a) { return a.error; }));
  return columns;
}

Json answer_json(const Model& model, const Answer& answer, const float* row,
                 const std::vector<std::string>& sentences) {
  const std::vector<Feature>& features = model.schema().features;
  Json reasons = Json::array();
  for (const Reason& reason : answer.reasons) {
    reasons.push_back({{"column", features[reason.feature].name},
                       {"value", json_of(features[reason.feature], row[reason.feature])},
                       {"share", Json::single(reason.share)},
                       {"reason", sentences[reason.feature]}});
  }
  Json shares = Json::object();
  for (std::size_t f = 0; f < features.size(); ++f)
    shares[features[f].name] = Json::single(answer.shares[f]);
  return {{"output", output_names(model.schema().label)[answer.output]},
          {"score", Json::single(answer.score)},
          {"baseline", Json::single(answer.baseline)},
          {"reasons", std::move(reasons)},
          {"rest", Json::single(answer.rest)},
          {"error", Json::single(answer.error)},
          {"shares", std::move(shares)}};
}

// Columns of the result must not have the names of kept columns.
void check_kept(const ExplainFlags& flags, const Label& label) {
  std::vector<std::string> names;
  for (const Column& column : answer_columns(flags, label, {}, {})) names.push_back(column.name);
  for (const std::string& name : flags.keep) {
    if (std::ranges::find(names, name) != names.end())
      throw Error(
          ErrorKind::argument,
          fmt::format("--keep: '{}' is named twice or the name of a column that is added", name));
    names.push_back(name);
  }
}

// Exposures do not change scores, so their column is not read.
Table read_rows(const ExplainFlags& flags, const Model& model) {
  CsvOptions csv = model.csv_options(flags.csv, Reading::features);
  csv.threads = flags.options.threads;
  for (const std::string& name : flags.keep) {
    if (csv.types.emplace(name, ColumnType::category).second) csv.only.push_back(name);
  }
  csv.keep_text = flags.keep;
  Table table = read_csv(flags.table, csv);
  for (const std::string& warning : model.warnings(table)) tell("espalier: warning: " + warning);
  return table;
}

void check_output(const ExplainFlags& flags, const Label& label) {
  const std::vector<std::string> names = output_names(label);
  if (flags.options.output.empty() || std::ranges::find(names, flags.options.output) != names.end())
    return;
  throw bad_value("--of", flags.options.output, fmt::format("one of {}", fmt::join(names, ", ")));
}

int run_explain(const ExplainFlags& flags) {
  check_table_flags(flags.csv);
  check_files({.outputs = {{"-o", flags.output}},
               .inputs = {{"the model", flags.model}},
               .datasets = {{"the data", flags.table},
                            {"the data of --baseline", flags.baseline},
                            {"the file of --reasons", flags.reasons}}});
  const Model model = Model::load(flags.model);
  const Label& label = model.schema().label;
  check_output(flags, label);
  check_kept(flags, label);
  if (static_cast<int>(model.schema().features.size()) <= flags.options.exact_columns) {
    const ExplainOptions defaults;
    warn_of_idle_flags({{"--permutations", flags.options.permutations != defaults.permutations},
                        {"--seed", flags.options.seed != defaults.seed}},
                       "all columns are exact");
  }
  const std::vector<std::string> sentences = read_sentences(model, flags.reasons);
  const std::vector<float> baseline = read_baseline(model, flags.baseline, flags.csv);
  const Table table = read_rows(flags, model);
  const Predictor predictor(model);
  const std::vector<float> rows = predictor.rows(table);
  const std::vector<Answer> answers = answers_of(flags, predictor, rows, baseline);
  if (flags.output != "-" || !flags.json) {
    Table out{.num_rows = table.num_rows};
    for (const std::string& name : flags.keep) out.columns.push_back(kept_column(table, name));
    std::ranges::move(answer_columns(flags, label, sentences, answers),
                      std::back_inserter(out.columns));
    tell("espalier: baseline: " + baseline_text(model, baseline));
    write_table(out, flags.output);
  }
  if (flags.json) {
    Json json = {{"rows", answers.size()},
                 {"baseline", baseline_json(model, baseline)},
                 {"adverse", to_word(flags.adverse)},
                 {"exact_columns", flags.options.exact_columns},
                 {"permutations", flags.options.permutations},
                 {"seed", flags.options.seed},
                 {"explanations", Json::array()}};
    for (std::size_t r = 0; r < answers.size(); ++r) {
      json["explanations"].push_back(
          answer_json(model, answers[r], rows.data() + r * predictor.num_cells(), sentences));
    }
    print_json_line(json);
  }
  return 0;
}

}  // namespace

Run define_explain(CLI::App& app) {
  const auto flags = std::make_shared<ExplainFlags>();
  ExplainOptions& options = flags->options;
  app.add_option("MODEL", flags->model, "a model file")->required();
  app.add_option("DATA", flags->table, "a CSV file, or - for standard input")->required();
  app.add_option("-o,--output", flags->output, "the file to write (default -, standard output)")
      ->type_name("FILE");
  add_field(app, Field{"top", "how many features to list for each row", 0, 1000}, flags->top);
  add_field(app, Field{"adverse", "list only features that move the score in this direction"},
            flags->adverse);
  add_baseline_flag(app, flags->baseline);
  app.add_option("--reasons", flags->reasons,
                 "a CSV file with `column` and `reason`: the text to print for each feature")
      ->type_name("FILE");
  app.add_option(
         "--of", options.output,
         "the output to explain, as predict names it (default: the middle quantile or grade, "
         "or the most probable class of the row)")
      ->type_name("NAME");
  add_list(app, "--keep", flags->keep, "columns of the data to print before the explanation");
  add_field(app,
            Field{"exact_columns",
                  "compute exact Shapley values for rows that differ from the baseline in at most "
                  "this many features; sample permutations for others",
                  0, 20},
            options.exact_columns);
  add_field(
      app,
      Field{"permutations",
            "sampled permutations, in pairs, the same for all rows; 0: 128, or fewer if more than "
            "100 features differ from the baseline",
            0, 1e6},
      options.permutations);
  add_field(app, Field{"seed", "the random seed of the permutations"}, options.seed);
  app.add_flag("--json", flags->json,
               "print one JSON object with all Shapley values; a file of -o is still a CSV");
  add_field(app, Field{"threads", "0 uses all cores", 0, 1024}, options.threads);
  add_table_flags(app, flags->csv);
  return [flags] { return run_explain(*flags); };
}

}  // namespace espalier
