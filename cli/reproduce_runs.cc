// SPDX-License-Identifier: Apache-2.0
#include "reproduce_runs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>

#include "espalier/architecture.h"
#include "espalier/certificate.h"
#include "espalier/train.h"
#include "espalier/tune.h"

namespace espalier {
namespace {

constexpr int kFolds = 5;
constexpr std::size_t kPairs = 10000;  // tried on each of many models

// What one set of settings is tuned, trained and judged on.
struct Sample {
  const Table& train;
  const Table& test;
  const Table* valid = nullptr;  // null: a share of the training rows
  double valid_fraction;
  std::vector<std::uint64_t> seeds;
};

class Runner {
 public:
  Runner(const Experiment& experiment, const Data& data, const Budget& budget)
      : experiment_(experiment), data_(data), budget_(budget), seeds_(budget.seeds) {
    std::iota(seeds_.begin(), seeds_.end(), std::uint64_t{1});
  }

  ResultRow run(const ModelSpec& model, Protocol protocol, bool tuned) const {
    ResultRow row{.model = &model, .protocol = protocol, .tuned = tuned};
    if (protocol != Protocol::cross_validation) {
      const bool see_test = protocol == Protocol::test_selected;
      judge(
          {data_.train, data_.test, see_test ? &data_.test : nullptr, data_.valid_fraction, seeds_},
          row);
      return row;
    }
    for (const std::uint64_t seed : seeds_) {
      for (const Data& fold : make_folds(data_, kFolds, seed))
        judge({fold.train, fold.test, nullptr, fold.valid_fraction, {seed}}, row);
    }
    return row;
  }

 private:
  TrainOptions options_of(const ModelSpec& model, const Sample& sample) const {
    TrainOptions options = experiment_.options;
    options.architecture =
        model.size.empty() ? model.preset : fmt::format("{}({})", model.preset, model.size);
    options.valid_fraction = sample.valid_fraction;
    options.threads = budget_.threads;
    options.seed = sample.seeds.front();
    // The literature reports the best epoch by the metric that it prints.
    if (sample.valid != nullptr) options.metric = experiment_.metric;
    if (!model.constrained) options.increasing = options.decreasing = {};
    return options;
  }

  TuneOptions tune_options(const ModelSpec& model, const Sample& sample) const {
    TuneOptions options{.trials = budget_.trials, .confirm = budget_.confirm};
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

  // The settings that tune finds, whatever seed they are then trained with.
  TrainOptions settle(const TrainOptions& options, const Sample& sample, ResultRow& row) const {
    const auto start = std::chrono::steady_clock::now();
    const TuneResult result =
        tune(sample.train, options, tune_options(*row.model, sample), {.valid = sample.valid});
    row.tune_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result.trained.options;
  }

  void judge(const Sample& sample, ResultRow& row) const {
    TrainOptions options = options_of(*row.model, sample);
    if (row.tuned) options = settle(options, sample, row);
    for (const std::uint64_t seed : sample.seeds) {
      options.seed = seed;
      const TrainResult result = train(sample.train, options, {.valid = sample.valid});
      row.outcomes.push_back({.valid = result.valid_metrics,
                              .test = evaluate(result.model, sample.test).metrics,
                              .parameters = result.model.num_parameters(),
                              .size = size_of(result.model.architecture()),
                              .seconds = result.seconds,
                              .proved = verify(result.model, {.pairs = kPairs}).holds(),
                              .options = to_json(result.options)});
    }
  }

  const Experiment& experiment_;
  const Data& data_;
  const Budget& budget_;
  std::vector<std::uint64_t> seeds_;
};

}  // namespace

std::size_t num_rows(const Experiment& experiment, const Budget& budget) {
  return experiment.protocols.size() * experiment.models.size() * (budget.tunes() ? 2 : 1);
}

std::vector<ResultRow> run_experiment(const Experiment& experiment, const Data& data,
                                      const Budget& budget,
                                      const std::function<void(const ResultRow&)>& say) {
  const Runner runner(experiment, data, budget);
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
