// SPDX-License-Identifier: Apache-2.0
// One row at a time through an exported header, beside the Predictor in the same run: seconds of
// compiling, bytes of the object file, nanoseconds a row.
//   bench_export FOLDER [COMPILER ...]   # the folder has model.esp and test.csv
#include <bit>
#include <cstring>

#include "rows.h"
#include "support/compiled_header.h"
#include "timing.h"

namespace espalier {
namespace {

constexpr std::size_t kRows = 2000;
constexpr std::size_t kBlock = 100;  // rows timed together: too short to be interrupted often
constexpr int kRepeats = 21;

// Nanoseconds a row of two functions of the first row of a block, in turns.
template <class First, class Second>
std::pair<double, double> race(First&& first, Second&& second) {
  std::vector<double> times[2];
  for (int i = 0; i < kRepeats; ++i) {
    for (std::size_t r = 0; r < kRows; r += kBlock) {
      times[0].push_back(seconds(1, [&] { first(r); }));
      times[1].push_back(seconds(1, [&] { second(r); }));
    }
  }
  return {median(times[0]) / kBlock * 1e9, median(times[1]) / kBlock * 1e9};
}

void run(int argc, char** argv) {
  Service service(argv[1], kRows);
  std::vector<std::string> compilers(argv + 2, argv + argc);
  if (compilers.empty()) {
    compilers = {"g++ -O2", "g++ -O3 -march=native", "clang++ -O2", "clang++ -O3 -march=native",
                 "g++ -O2 -DESPALIER_EXPORT_NO_DISPATCH"};
  }
  const std::size_t width = service.predictor.num_cells();
  const std::span<const float> cells = service.cells;
  std::vector<float> found(kRows), wanted(kRows);
  for (const std::string& compiler : compilers) {
    double compile_seconds = 0;
    std::unique_ptr<CompiledHeaders> headers;
    compile_seconds = seconds(1, [&] {
      headers = std::make_unique<CompiledHeaders>(std::vector{case_of(service.model)}, compiler);
    });
    const auto [header, predictor] = race(
        [&](std::size_t first) {
          for (std::size_t r = first; r < first + kBlock; ++r)
            headers->run(0, cells.subspan(r * width, width), Output::prediction, {&found[r], 1});
        },
        [&](std::size_t first) {
          for (std::size_t r = first; r < first + kBlock; ++r)
            wanted[r] = service.predictor.predict(cells.subspan(r * width, width), service.scratch);
        });
    if (std::memcmp(found.data(), wanted.data(), kRows * sizeof(float)) != 0)
      throw Error(ErrorKind::data, compiler + ": the header gives other bits than the predictor");
    report({{"compiler", compiler},
            {"compile_seconds", compile_seconds},
            {"library_bytes", headers->library_bytes()},
            {"header_ns", header},
            {"predictor_ns", predictor}});
  }
}

}  // namespace
}  // namespace espalier

int main(int argc, char** argv) {
  return espalier::contend([=] { espalier::run(argc, argv); });
}
