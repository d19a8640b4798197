// SPDX-License-Identifier: Apache-2.0
// The validation loss, log loss or mean squared error, against the seconds since train() was called
// with the table in memory: its defaults, and smaller networks in a hurry.
//   bench_time_to_quality FOLDER THREADS
#include <chrono>

#include "contender.h"

namespace espalier {
namespace {

void measure(const std::string& folder, const TrainOptions& options, const std::string& name) {
  using Clock = std::chrono::steady_clock;
  const Table table = read_csv(folder + "/train.csv"), valid = read_csv(folder + "/valid.csv");
  const Clock::time_point start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  Json history = Json::array();
  const TrainControl control{.valid = &valid, .progress = [&](const Progress& progress) {
                               if (progress.epoch_finished)
                                 history.push_back({elapsed(), progress.last.valid_metric});
                             }};
  const TrainResult result = train(table, options, control);
  for (const MetricValue& metric : result.valid_metrics) {
    if (metric.metric == result.metric) history.push_back({elapsed(), metric.value});
  }
  report({{"contender", name},
          {"value", elapsed()},
          {"unit", "s"},
          {std::string(to_word(result.metric)),
           metric_on(result.model, folder + "/test.csv", result.metric)},
          {"history", history}});
}

void run(char** argv) {
  const std::string folder = argv[1];
  TrainOptions options = options_of(folder);
  options.threads = std::stoi(argv[2]);
  measure(folder, options, "espalier");
  options.architecture = "dln(40x5)";
  options.epochs = 10;
  measure(folder, options, "espalier, dln(40x5), 10 epochs");
  options.architecture = "dln(20x4)";
  options.epochs = 6;
  measure(folder, options, "espalier, dln(20x4), 6 epochs");
}

}  // namespace
}  // namespace espalier

int main(int, char** argv) {
  return espalier::contend([=] { espalier::run(argv); });
}
