// SPDX-License-Identifier: Apache-2.0
// Nanoseconds for one row at a time through the predictor, each row another one than the last.
//   bench_predict_one FOLDER    # the folder has model.esp
#include "rows.h"
#include "timing.h"

namespace espalier {
namespace {

constexpr std::size_t kRows = 2000;
constexpr std::size_t kBlock = 100;  // rows timed together: too short to be interrupted often
constexpr int kRepeats = 21;

void run(char** argv) {
  Service service(argv[1], kRows);
  const std::size_t width = service.predictor.num_cells();
  std::vector<float> found(kRows), wanted(kRows);
  const auto predict = [&](std::size_t first) {
    for (std::size_t r = first; r < first + kBlock; ++r) {
      const auto row = std::span(service.cells).subspan(r * width, width);
      found[r] = service.predictor.predict(row, service.scratch);
    }
  };
  for (std::size_t first = 0; first < kRows; first += kBlock) predict(first);
  service.predictor.predict(service.cells, wanted, service.scratch);
  if (found != wanted) throw Error(ErrorKind::data, "one row and many give different bits");
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) {
    for (std::size_t first = 0; first < kRows; first += kBlock)
      times.push_back(seconds(1, [&] { predict(first); }));
  }
  service.report_seconds(median(times) / kBlock);
}

}  // namespace
}  // namespace espalier

int main(int, char** argv) {
  return espalier::contend([=] { espalier::run(argv); });
}
