// SPDX-License-Identifier: Apache-2.0
// What the Python package is measured against: the same work in C++.
//   bench_python fit|one|batch FILE ROWS THREADS
// FILE holds ROWS rows of ten float32 features and a label, row after row; it is made if it is
// absent. `fit` leaves the model beside it, which the others predict with.
#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>

#include "contender.h"
#include "timing.h"

namespace espalier {
namespace {

constexpr std::size_t kFeatures = 10;
constexpr int kEpochs = 3;

std::vector<float> make_rows(std::size_t rows) {
  std::mt19937 random(1);
  std::vector<float> cells;
  cells.reserve(rows * (kFeatures + 1));
  const auto uniform = [&] { return static_cast<float>(random() >> 8) * 0x1p-24f; };
  for (std::size_t r = 0; r < rows; ++r) {
    float label = 0.1f * uniform();
    for (std::size_t f = 0; f < kFeatures; ++f) {
      const float x = uniform();
      label += f % 2 == 0 ? x * static_cast<float>(f) : -x * x;
      cells.push_back(x);
    }
    cells.push_back(label);
  }
  return cells;
}

std::vector<float> rows_of(const std::string& path, std::size_t rows) {
  if (!std::filesystem::exists(path)) {
    const std::vector<float> cells = make_rows(rows);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(cells.data()),
               static_cast<std::streamsize>(cells.size() * sizeof(float)));
  }
  std::vector<float> cells(rows * (kFeatures + 1));
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(cells.data()),
            static_cast<std::streamsize>(cells.size() * sizeof(float)));
  return cells;
}

Table table_of(const std::vector<float>& cells) {
  Table table{.name = "X", .num_rows = cells.size() / (kFeatures + 1)};
  for (std::size_t f = 0; f <= kFeatures; ++f) {
    Column column{.name = f < kFeatures ? fmt::format("x{}", f) : "y"};
    for (std::size_t r = 0; r < table.num_rows; ++r)
      column.numbers.push_back(cells[r * (kFeatures + 1) + f]);
    table.columns.push_back(std::move(column));
  }
  return table;
}

void fit(const std::string& path, const std::vector<float>& cells, int threads) {
  Table table = table_of(cells);
  std::optional<TrainResult> result;
  const std::clock_t start = std::clock();
  const double taken = seconds(1, [&] {
    result =
        train(std::move(table),
              {.label = "y", .increasing = {"x0", "x2"}, .epochs = kEpochs, .threads = threads});
  });
  const double cpu_seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  result->model.save(path + ".esp");
  report({{"contender", "espalier"},
          {"value", taken},
          {"unit", "s"},
          {"cpu_seconds", cpu_seconds},
          {"model", result->model.hash()}});
}

void predict(const std::string& path, const std::vector<float>& cells, bool one) {
  constexpr int kRepeats = 51, kCalls = 500;
  const Predictor predictor(Model::load(path + ".esp"));
  Predictor::Scratch scratch(predictor);
  std::vector<float> rows;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % (kFeatures + 1) != kFeatures) rows.push_back(cells[i]);
  }
  const std::size_t count = one ? 1 : std::min<std::size_t>(rows.size() / kFeatures, 100'000);
  const int calls = one ? kCalls : 1;
  std::vector<float> out(count);
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) {
    times.push_back(seconds(
        calls, [&] { predictor.predict(std::span(rows).first(count * kFeatures), out, scratch); }));
  }
  report({{"contender", "espalier"},
          {"value", *std::min_element(times.begin(), times.end()) / calls /
                        static_cast<double>(count) * 1e9},
          {"unit", "ns/row"},
          {"first", out.front()}});
}

void run(char** argv) {
  const std::string kind = argv[1], path = argv[2];
  const std::vector<float> cells = rows_of(path, static_cast<std::size_t>(std::stoul(argv[3])));
  if (kind == "fit") {
    fit(path, cells, std::stoi(argv[4]));
  } else {
    predict(path, cells, kind == "one");
  }
}

}  // namespace
}  // namespace espalier

int main(int, char** argv) {
  return espalier::contend([=] { espalier::run(argv); });
}
