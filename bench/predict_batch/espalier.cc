// SPDX-License-Identifier: Apache-2.0
// Nanoseconds a row for many rows through the predictor, one thread.
//   bench_predict_batch FOLDER ROWS    # the folder has model.esp
#include "contender.h"
#include "rows.h"
#include "timing.h"

namespace espalier {
namespace {

constexpr int kRepeats = 9;

void run(char** argv) {
  const std::string folder = argv[1];
  const auto rows = static_cast<std::size_t>(std::stoul(argv[2]));
  const Model model = Model::load(folder + "/model.esp");
  const Table table = read_csv(folder + "/test.csv", model.csv_options());
  const Predictor predictor(model);
  Predictor::Scratch scratch(predictor);
  const std::vector<float> cells = predictor_rows(predictor, table, rows);
  std::vector<float> found(rows);
  const auto predict = [&] { predictor.predict(cells, found, scratch); };
  predict();
  const std::vector<float> wanted = model.predict(table);
  for (std::size_t r = 0; r < rows; ++r) {
    if (found[r] != wanted[r % wanted.size()])
      throw Error(ErrorKind::data,
                  fmt::format("row {}: {} is not {}", r, found[r], wanted[r % wanted.size()]));
  }
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) times.push_back(seconds(1, predict));
  report({{"contender", "espalier"},
          {"value", median(times) / static_cast<double>(rows) * 1e9},
          {"unit", "ns/row"},
          {"log_loss", metric_on(model, folder + "/test.csv", Metric::log_loss)}});
}

}  // namespace
}  // namespace espalier

int main(int, char** argv) {
  return espalier::contend([=] { espalier::run(argv); });
}
