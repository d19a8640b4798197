// SPDX-License-Identifier: Apache-2.0
// Collects the numbers of a page and fills the markup.
#include "espalier/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "core/default_floats.h"
#include "core/file.h"
#include "core/random.h"
#include "core/thread_pool.h"
#include "csv/cell.h"
#include "encode/encode.h"
#include "encode/promises.h"
#include "encode/roles.h"
#include "espalier/certificate.h"
#include "espalier/error.h"
#include "espalier/explain.h"
#include "espalier/outputs.h"
#include "espalier/predictor.h"
#include "espalier/version.h"
#include "model/model_data.h"
#include "page/columns.h"
#include "page/groups.h"
#include "page/page_text.h"
#include "page/pair_maps.h"
#include "page/program_json.h"
#include "page/quality.h"
#include "page/sample.h"
#include "page/scored_table.h"
#include "page/text.h"
#include "serve/compile.h"

namespace espalier {

namespace {

constexpr std::size_t kSampledRows = 100'000;  // for the density of features
constexpr std::size_t kShuffled = 200'000;     // rows shuffled for importance, over all features
constexpr std::size_t kLeastShuffled = 100;    // per feature
constexpr std::size_t kPairedColumns = 8;      // the most important features

// The independent random streams of a page.
enum Stream : std::uint64_t { kSample, kBootstrap, kGroups, kImportance };

// The kind of label, as named in the scripts.
const char* kind_of(const Label& label) {
  if (label.ordered) return "grades";
  if (label.has_many_classes()) return "classes";
  if (label.task() == Task::classification) return "two classes";
  if (label.has_log_link()) return "amount";
  return label.loss == Loss::quantile ? "quantiles" : "number";
}

Json label_json(const Label& label) {
  return {{"name", label.name},           {"kind", kind_of(label)},
          {"loss", to_word(label.loss)},  {"classes", label.classes},
          {"quantiles", label.quantiles}, {"outputs", output_names(label)},
          {"main", main_output(label)}};
}

Json proof_json(const Certificate& proof) {
  Json layers = Json::array();
  for (const LayerProof& layer : proof.layers) {
    layers.push_back({{"layer", layer.layer},
                      {"inequalities", layer.inequalities},
                      {"violations", layer.violations}});
  }
  return {{"holds", proof.holds()},
          {"inequalities", proof.inequalities},
          {"violations", proof.violations},
          {"pairs", proof.pairs},
          {"pair_violations", proof.pair_violations},
          {"crossings", proof.crossings},
          {"levels", proof.levels},
          {"seed", proof.seed},
          {"layers", layers}};
}

Json model_json(const Model& model) {
  const auto [networks, trees] = count_members(model.data());
  return {{"hash", model.hash()},
          {"espalier", kVersion},
          {"architecture", model.architecture()},
          {"parameters", model.num_parameters()},
          {"networks", networks},
          {"trees", trees},
          {"training", Json::parse(model.training_json(), "model")}};
}

// Multiclass: [class, direction] of each guarantee about a feature.
Json class_promises(const Schema& schema, const Feature& feature) {
  Json promises = Json::array();
  for (std::size_t s = 0; s < schema.label.num_scores(); ++s) {
    const Monotonicity direction = promise_of(schema, s, feature);
    if (direction != Monotonicity::none) promises.push_back({s, to_word(direction)});
  }
  return promises;
}

// How the page parses the values of a pasted row.
void add_words(const Feature& feature, Json& column) {
  if (feature.kind != FeatureKind::number) {
    column["words"] = std::vector<std::string>(
        feature.categories.begin(),
        feature.categories.begin() + static_cast<std::ptrdiff_t>(num_own_categories(feature)));
  }
  if (!feature.missing.empty()) column["missing"] = feature.missing;
  if (!feature.not_missing.empty()) column["not_missing"] = feature.not_missing;
}

// Replaces {{name}} in the markup, once each and from left to right, so that inserted text is not
// searched.
std::string fill(std::string_view markup,
                 const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string page;
  for (const auto& [name, value] : values) {
    const std::string mark = fmt::format("{{{{{}}}}}", name);
    const std::size_t at = markup.find(mark);
    page += markup.substr(0, at);
    page += value;
    markup.remove_prefix(at + mark.size());
  }
  return page += markup;
}

// 'sha256-...' of a content security policy, from hexadecimal digits.
std::string policy_hash(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  return fmt::format("'sha256-{}'", base64(bytes));
}

class PageMaker {
 public:
  PageMaker(const Model& model, const Table& table, const PageOptions& options)
      : model_(model),
        table_(table),
        options_(options),
        predictor_(model),
        random_(options.seed),
        pool_(options.threads) {}

  Json make() {
    say(0, "predicting");
    const std::vector<float> scores = model_.predict(table_, Output::score, options_.threads);
    const std::optional<ScoredTable> scored = score_table(model_.schema(), table_, scores);
    if (!scored && !options_.by.empty()) {
      throw Error(ErrorKind::argument,
                  fmt::format("by: {} has no label '{}' to evaluate groups with", table_.name,
                              printable(model_.schema().label.name)));
    }
    Json json = head();
    say(0.15, "searching for a counter-example");
    json["proof"] = proof_json(verify(
        model_, {.pairs = options_.pairs, .seed = options_.seed, .threads = options_.threads}));
    say(0.35, "evaluating");
    json["quality"] = scored ? quality_json(*scored, random_.split(kBootstrap), pool_) : Json();
    if (!options_.by.empty()) {
      say(0.5, "evaluating groups");
      json["groups"] = groups_json(*scored, table_, options_.by, random_.split(kGroups), pool_);
    }
    add_columns(scored, json);
    json["program"] = json_of(compile(model_));
    say(1, "writing");
    return json;
  }

 private:
  void say(double share, std::string_view next) const {
    if (options_.progress) options_.progress(share, next);
  }

  Json head() const {
    const Schema& schema = model_.schema();
    Json names = Json::array(), beside = Json::array();
    for (const Column& column : table_.columns) names.push_back(column.name);
    for (const auto& [role, name] : prediction_columns(schema.beside))
      beside.push_back({{"role", to_word(role)}, {"name", name}});
    return {{"table", std::filesystem::path(table_.name).filename().string()},
            {"table_columns", names},
            {"rows", table_.num_rows},
            {"seed", options_.seed},
            {"label", label_json(schema.label)},
            {"beside", beside},
            {"model", model_json(model_)}};
  }

  void add_columns(const std::optional<ScoredTable>& scored, Json& json) {
    say(0.6, "weighing columns");
    const Rows rows = sample_rows(table_.num_rows, kSampledRows, random_.split(kSample));
    SampledRows sample{.width = predictor_.num_cells()};
    sample.cells =
        predictor_.rows(rows.size() < table_.num_rows ? take_rows(table_, rows) : table_);
    const Importance weighed = weigh_columns(scored);
    const bool has_loss = weighed.metric != Metric::automatic;
    const auto spread_of = [&](std::size_t f) {
      return has_loss ? weighed.columns[f].loss : weighed.columns[f].move;
    };
    say(0.8, "drawing curves");
    json["columns"] = columns_json(predictor_, sample, pool_,
                                   [&](double share) { say(0.8 + 0.1 * share, "drawing curves"); });
    json["columns"]["weighed_rows"] = weighed.rows;
    json["columns"]["metric"] = has_loss ? Json(to_word(weighed.metric)) : Json();
    Json& list = json["columns"]["list"];
    const std::vector<Feature>& features = model_.schema().features;
    for (std::size_t f = 0; f < features.size(); ++f) {
      list[f]["importance"] = rounded(spread_of(f).mean);
      list[f]["importance_spread"] = rounded(spread_of(f).deviation);
      add_words(features[f], list[f]);
      if (model_.schema().label.has_many_classes())
        list[f]["promises"] = class_promises(model_.schema(), features[f]);
    }
    std::vector<std::size_t> order(features.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](std::size_t f) { return spread_of(f).mean; });
    order.resize(std::min(order.size(), kPairedColumns));
    say(0.9, "drawing pairs");
    json["pairs"] = pair_maps_json(predictor_, sample, order, pool_);
    json["baseline"] = baseline_row(model_);
  }

  // From a sample of the labeled rows, if there are labels.
  Importance weigh_columns(const std::optional<ScoredTable>& scored) const {
    const std::size_t columns = model_.schema().features.size();
    const std::size_t most = std::clamp<std::size_t>(kShuffled / columns, kLeastShuffled, 10'000);
    const std::size_t count = scored ? scored->size() : table_.num_rows;
    Rows rows = sample_rows(count, most, random_.split(kImportance));
    if (scored) {
      for (std::uint64_t& row : rows) row = scored->rows[row];
    }
    Table sample = take_rows(table_, rows);
    if (!scored) {
      std::erase_if(sample.columns,
                    [&](const Column& own) { return own.name == model_.schema().label.name; });
    }
    return importance(
        model_, sample,
        {.shared_rows = 0,
         .shuffled_rows = most,
         .seed = options_.seed,
         .threads = options_.threads,
         .progress = [&](double share) { say(0.6 + 0.2 * share, "weighing columns"); }});
  }

  const Model& model_;
  const Table& table_;
  const PageOptions& options_;
  const Predictor predictor_;
  Random random_;
  ThreadPool pool_;
};

}  // namespace

std::string page_html(const Model& model, const Table& table, const PageOptions& options) {
  const DefaultFloats floats;
  if (!options.by.empty()) require_column(table, options.by);
  std::string script;
  for (const std::string_view file : kPageScripts) script += file;
  return fill(kPageMarkup, {{"script_hash", policy_hash(kPageScriptHash)},
                            {"style_hash", policy_hash(kPageStyleHash)},
                            {"style", std::string(kPageStyle)},
                            {"data", script_text(PageMaker(model, table, options).make())},
                            {"script", script}});
}

void write_page(const Model& model, const Table& table, const std::string& path,
                const PageOptions& options) {
  write_file_atomically(path, page_html(model, table, options));
}

}  // namespace espalier
