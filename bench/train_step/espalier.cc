// SPDX-License-Identifier: Apache-2.0
// Training throughput: rows a second of whole epochs, after one to warm up.
//   bench_train_step FOLDER LATTICES SIZE MONOTONE BATCH THREADS
#include <chrono>
#include <vector>

#include "contender.h"
#include "timing.h"

namespace espalier {
namespace {

constexpr int kEpochs = 6;

void measure(const std::string& folder, const Table& table, const TrainOptions& options,
             const std::string& name) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> epochs;
  Clock::time_point last = Clock::now();
  const TrainControl control{.progress = [&](const Progress& progress) {
    if (!progress.epoch_finished) return;
    const Clock::time_point now = Clock::now();
    epochs.push_back(std::chrono::duration<double>(now - last).count());
    last = now;
  }};
  const TrainResult result = train(table, options, control);
  epochs.erase(epochs.begin());
  report({{"contender", name},
          {"value", static_cast<double>(result.train_rows) / median(epochs)},
          {"unit", "rows/s"},
          {"log_loss", metric_on(result.model, folder + "/test.csv", Metric::log_loss)},
          {"parameters", result.model.num_parameters()}});
}

void run(char** argv) {
  const std::string folder = argv[1], lattices = argv[2], size = argv[3], monotone = argv[4];
  TrainOptions options = options_of(folder);
  options.architecture =
      fmt::format("cal(100) lin({},monotone={}) cal(20) lat({}x{}) cal(20) lin(1)",
                  std::stoi(lattices) * std::stoi(size), monotone, lattices, size);
  options.batch_size = std::stoi(argv[5]);
  options.epochs = kEpochs;
  options.valid_fraction = 0;
  const Table table = read_csv(folder + "/train.csv");
  options.threads = std::stoi(argv[6]);
  measure(folder, table, options, "espalier");
  if (options.threads == 1) return;
  options.threads = 1;
  measure(folder, table, options, "espalier, 1 thread");
}

}  // namespace
}  // namespace espalier

int main(int, char** argv) {
  return espalier::contend([=] { espalier::run(argv); });
}
