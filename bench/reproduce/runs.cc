// SPDX-License-Identifier: Apache-2.0
#include "reproduce/runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "espalier/architecture.h"
#include "espalier/certificate.h"
#include "espalier/train.h"
#include "espalier/tune.h"

namespace espalier {
namespace {

constexpr int kFolds = 5;
constexpr std::size_t kPairs = 10000;  // tried on each of many models

// What one set of settings is tuned, trained and evaluated on.
struct Sample {
  const Table& train;
  const Table& test;
  const Table* valid = nullptr;  // null: a share of the training rows
  double valid_fraction;
  std::vector<std::uint64_t> seeds;
  Json name;  // of these rows among all that the data gives
};

std::vector<MetricValue> metrics_from(const Json& json) {
  std::vector<MetricValue> metrics;
  for (const auto& [name, value] : json.members()) {
    const double number = value.is_null() ? std::nan("") : value.get<double>();
    metrics.push_back({from_word<Metric>(name).value(), number});
  }
  return metrics;
}

Outcome outcome_from(const Json& json) {
  return {.valid = metrics_from(json.at("validation")),
          .test = metrics_from(json.at("test")),
          .parameters = json.at("parameters").get<std::size_t>(),
          .size = json.at("size").get<std::string>(),
          .seconds = json.at("seconds").get<double>(),
          .proved = json.at("proved").get<bool>(),
          .options = json.at("options").dump()};
}

// Without the threads, on which no result depends.
Json settings_json(TrainOptions options) {
  options.threads = 0;
  return Json::parse(to_json(options));
}

class Runner {
 public:
  Runner(const Experiment& experiment, const Data& data, const Budget& budget,
         const Records& records)
      : experiment_(experiment),
        data_(data),
        budget_(budget),
        records_(records),
        seeds_(budget.seeds) {
    std::iota(seeds_.begin(), seeds_.end(), std::uint64_t{1});
  }

  ResultRow run(const ModelSpec& model, Protocol protocol, bool tuned) const {
    ResultRow row{.model = &model, .protocol = protocol, .tuned = tuned};
    if (protocol != Protocol::cross_validation) {
      const bool see_test = protocol == Protocol::test_selected;
      add_outcomes({data_.train,
                    data_.test,
                    see_test ? &data_.test : nullptr,
                    data_.valid_fraction,
                    seeds_,
                    {{"protocol", to_word(protocol)}}},
                   row);
      return row;
    }
    for (const std::uint64_t seed : seeds_) {
      int number = 0;
      for (const Data& fold : make_folds(data_, kFolds, seed)) {
        const Json name = {{"protocol", to_word(protocol)}, {"seed", seed}, {"fold", ++number}};
        add_outcomes({fold.train, fold.test, nullptr, fold.valid_fraction, {seed}, name}, row);
      }
    }
    return row;
  }

 private:
  TrainOptions options_of(const ModelSpec& model, const Sample& sample) const {
    TrainOptions options = experiment_.options;
    options.architecture =
        model.size.empty() ? model.preset : fmt::format("{}({})", model.preset, model.size);
    options.trees = 0;  // the published models, and nothing beside them
    options.valid_fraction = sample.valid_fraction;
    options.threads = budget_.threads;
    options.seed = sample.seeds.front();
    // The literature reports the best epoch by the metric that it prints.
    if (sample.valid != nullptr) options.metric = experiment_.metric;
    if (!model.constrained) options.increasing = options.decreasing = {};
    return options;
  }

  TuneOptions tune_options(const ModelSpec& model, const Sample& sample) const {
    TuneOptions options{.trials = budget_.trials};
    if (budget_.confirm >= 0) options.confirm = budget_.confirm;
    if (sample.valid == nullptr) options.folds = experiment_.tune_folds;
    if (model.sizes.empty()) {
      options.fix = {"architecture"};
    } else {
      std::vector<std::string> words;
      for (const std::string& size : model.sizes)
        words.push_back(fmt::format("{}({})", model.preset, size));
      options.search = {fmt::format("architecture={}", fmt::join(words, ":"))};
    }
    return options;
  }

  // As many as a preset has that nobody tuned: what was found are layers, which would have one.
  static int networks_of(const Sample& sample) {
    constexpr double kFewRows = 5000;
    const double trained = static_cast<double>(sample.train.num_rows) * (1 - sample.valid_fraction);
    return trained < kFewRows ? 5 : 1;
  }

  // The settings that tune finds, whatever seed they are then trained with.
  TrainOptions settle(TrainOptions options, const Sample& sample, ResultRow& row) const {
    const TuneOptions search = tune_options(*row.model, sample);
    const Json work = {{"tune", settings_json(options)},
                       {"rows", sample.name},
                       {"trials", search.trials},
                       {"confirm", search.confirm.value_or(-1)},
                       {"folds", search.folds},
                       {"search", search.search},
                       {"fix", search.fix}};
    std::optional<Json> found = records_.find(work);
    const int threads = options.threads;
    const Auto<int> ensemble = options.ensemble;
    if (!found) {
      const auto start = std::chrono::steady_clock::now();
      options.ensemble = 1;
      const TuneResult result =
          tune(sample.train, options, search,
               {.valid = sample.valid, .results = records_.file_of_parts(work)});
      const auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start);
      found = {{"options", settings_json(result.trained.options)}, {"seconds", seconds.count()}};
      records_.keep(work, *found);
    }
    row.tune_seconds += found->at("seconds").get<double>();
    apply_json(options, found->at("options").dump(), "settings of tune");
    options.threads = threads;
    options.ensemble = ensemble.value_or(networks_of(sample));
    return options;
  }

  void add_outcomes(const Sample& sample, ResultRow& row) const {
    TrainOptions options = options_of(*row.model, sample);
    if (row.tuned) options = settle(options, sample, row);
    for (const std::uint64_t seed : sample.seeds) {
      options.seed = seed;
      const Json work = {{"train", settings_json(options)}, {"rows", sample.name}};
      std::optional<Json> found = records_.find(work);
      if (!found) {
        found = json_of(train_and_evaluate(sample, options));
        records_.keep(work, *found);
      }
      row.outcomes.push_back(outcome_from(*found));
    }
  }

  static Outcome train_and_evaluate(const Sample& sample, const TrainOptions& options) {
    const TrainResult result = train(sample.train, options, {.valid = sample.valid});
    return {.valid = result.valid_metrics,
            .test = evaluate(result.model, sample.test).metrics,
            .parameters = result.model.num_parameters(),
            .size = size_of(result.model.architecture()),
            .seconds = result.seconds,
            .proved = verify(result.model, {.pairs = kPairs}).holds(),
            .options = settings_json(result.options).dump()};
  }

  const Experiment& experiment_;
  const Data& data_;
  const Budget& budget_;
  const Records& records_;
  std::vector<std::uint64_t> seeds_;
};

}  // namespace

std::size_t num_rows(const Experiment& experiment, const Budget& budget) {
  return experiment.protocols.size() * experiment.models.size() * (budget.tunes() ? 2 : 1);
}

std::vector<ResultRow> run_experiment(const Experiment& experiment, const Data& data,
                                      const Budget& budget, const Records& records,
                                      const std::function<void(const ResultRow&)>& say) {
  const Runner runner(experiment, data, budget, records);
  std::vector<ResultRow> rows;
  for (const Protocol protocol : experiment.protocols) {
    for (const ModelSpec& model : experiment.models) {
      for (const bool tuned : {false, true}) {
        if (tuned && !budget.tunes()) continue;
        rows.push_back(runner.run(model, protocol, tuned));
        say(rows.back());
      }
    }
  }
  return rows;
}

Json json_of(const Outcome& outcome) {
  return {{"validation", json_of(outcome.valid)},
          {"test", json_of(outcome.test)},
          {"parameters", outcome.parameters},
          {"size", outcome.size},
          {"seconds", outcome.seconds},
          {"proved", outcome.proved},
          {"options", Json::parse(outcome.options)}};
}

double value_of(const std::vector<MetricValue>& values, Metric metric) {
  const auto found = std::ranges::find(values, metric, &MetricValue::metric);
  return found == values.end() ? std::numeric_limits<double>::quiet_NaN() : found->value;
}

std::string size_of(const std::string& architecture) {
  int layers = 0, units = 0;
  for (const LayerSpec& layer : parse_architecture(architecture).layers) {
    const bool is_grouped = layer.kind == LayerKind::lat || layer.kind == LayerKind::minmax;
    if (is_grouped) return fmt::format("{}x{}", layer.groups, layer.group_size);
    if (layer.kind == LayerKind::lin) units = std::max(units, layer.outputs);
    if (layer.kind == LayerKind::relu) ++layers;
  }
  return layers > 0 ? fmt::format("{}x{}", layers, units) : "";
}

}  // namespace espalier
