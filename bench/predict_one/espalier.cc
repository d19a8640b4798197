// SPDX-License-Identifier: Apache-2.0
// Nanoseconds for one row at a time through the predictor, each row another one than the last.
//   bench_predict_one FOLDER    # the folder has model.esp
#include "contender.h"
#include "rows.h"
#include "timing.h"

namespace espalier {
namespace {

constexpr std::size_t kRows = 2000;
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
  const auto predict = [&] {
    for (std::size_t r = 0; r < kRows; ++r)
      found[r] = predictor.predict(std::span(cells).subspan(r * width, width), scratch);
  };
  predict();
  predictor.predict(cells, wanted, scratch);
  if (found != wanted) throw Error(ErrorKind::data, "one row and many give different bits");
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) times.push_back(seconds(1, predict));
  report({{"contender", "espalier"},
          {"value", median(times) / kRows * 1e9},
          {"unit", "ns/row"},
          {"log_loss", metric_on(model, folder + "/test.csv", Metric::log_loss)}});
}

}  // namespace
}  // namespace espalier

int main(int, char** argv) {
  return espalier::contend([=] { espalier::run(argv); });
}
