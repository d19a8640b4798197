// SPDX-License-Identifier: Apache-2.0
// Nanoseconds for one row at a time through the predictor, each row another one than the last.
//   bench_predict_one FOLDER    # the folder has model.esp
#include "contender.h"
#include "rows.h"
#include "timing.h"

namespace espalier {
namespace {

constexpr std::size_t kRows = 2000;
constexpr std::size_t kBlock = 100;  // rows timed together: too short to be interrupted often
constexpr int kRepeats = 21;

void run(char** argv) {
  const std::string folder = argv[1];
  const Model model = Model::load(folder + "/model.esp");
  const Table table = read_csv(folder + "/test.csv", model.csv_options());
  const Predictor predictor(model);
  Predictor::Scratch scratch(predictor);
  const std::vector<float> cells = predictor_rows(predictor, table, kRows);
  const std::size_t width = predictor.num_features();
  std::vector<float> found(kRows), wanted(kRows);
  const auto predict = [&](std::size_t first) {
    for (std::size_t r = first; r < first + kBlock; ++r)
      found[r] = predictor.predict(std::span(cells).subspan(r * width, width), scratch);
  };
  for (std::size_t first = 0; first < kRows; first += kBlock) predict(first);
  predictor.predict(cells, wanted, scratch);
  if (found != wanted) throw Error(ErrorKind::data, "one row and many give different bits");
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) {
    for (std::size_t first = 0; first < kRows; first += kBlock)
      times.push_back(seconds(1, [&] { predict(first); }));
  }
  report({{"contender", "espalier"},
          {"value", median(times) / kBlock * 1e9},
          {"unit", "ns/row"},
          {"log_loss", metric_on(model, folder + "/test.csv", Metric::log_loss)}});
}

}  // namespace
}  // namespace espalier

int main(int, char** argv) {
  return espalier::contend([=] { espalier::run(argv); });
}
