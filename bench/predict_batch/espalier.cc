// SPDX-License-Identifier: Apache-2.0
// Nanoseconds a row for many rows through the predictor, one thread.
//   bench_predict_batch FOLDER ROWS    # the folder has model.esp
#include "rows.h"
#include "timing.h"

namespace espalier {
namespace {

constexpr int kRepeats = 9;

void run(char** argv) {
  const auto rows = static_cast<std::size_t>(std::stoul(argv[2]));
  Service service(argv[1], rows);
  std::vector<float> found(rows);
  const auto predict = [&] { service.predictor.predict(service.cells, found, service.scratch); };
  predict();
  const std::vector<float> wanted = service.model.predict(service.table);
  for (std::size_t r = 0; r < rows; ++r) {
    if (found[r] != wanted[r % wanted.size()])
      throw Error(ErrorKind::data,
                  fmt::format("row {}: {} is not {}", r, found[r], wanted[r % wanted.size()]));
  }
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) times.push_back(seconds(1, predict));
  service.report_seconds(median(times) / static_cast<double>(rows));
}

}  // namespace
}  // namespace espalier

int main(int, char** argv) {
  return espalier::contend([=] { espalier::run(argv); });
}
