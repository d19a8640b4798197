// SPDX-License-Identifier: Apache-2.0
// Microseconds a row for exact shares of the score: against the baseline of the training rows,
// which most rows share some cells with, and against one that differs from every row in every
// column, so that each takes 2^columns scores.
//   bench_explain FOLDER ROWS THREADS    # the folder has model.esp
#include <cmath>

#include "rows.h"
#include "timing.h"

namespace espalier {
namespace {

// Between two keypoints where no row lies, and no word of the model.
std::vector<float> odd_baseline(const Service& service) {
  const std::vector<Feature>& features = service.model.schema().features;
  std::vector<float> baseline;
  for (const Feature& feature : features) {
    if (feature.kind == FeatureKind::category) {
      baseline.push_back(static_cast<float>(feature.categories.size()));
    } else {
      const float first = feature.keypoints[0], second = feature.keypoints[1];
      baseline.push_back(first + 0.123f * (second - first));
    }
  }
  return baseline;
}

void check(const Service& service, const Explanation& why) {
  const std::vector<float> scores = service.model.predict(service.table, Output::score);
  for (std::size_t r = 0; r < why.num_rows; ++r) {
    double sum = why.baselines[r];
    for (const double share : why.shares_of(r)) sum += share;
    const float wanted = scores[r % scores.size()];
    if (why.scores[r] != wanted || std::abs(sum - wanted) > 1e-5)
      throw Error(ErrorKind::data, fmt::format("row {}: {} is not {}", r, sum, wanted));
  }
}

void run(char** argv) {
  const auto rows = static_cast<std::size_t>(std::stoul(argv[2]));
  const Service service(argv[1], rows);
  const ExplainOptions options{.threads = std::stoi(argv[3])};
  const double loss = metric_on(service.model, service.test_file, Metric::log_loss);
  const auto time = [&](const char* name, const std::vector<float>& baseline) {
    Explanation why;
    const double taken =
        seconds(1, [&] { why = explain(service.predictor, service.cells, baseline, options); });
    check(service, why);
    report({{"contender", name},
            {"value", taken / static_cast<double>(rows) * 1e6},
            {"unit", "us/row"},
            {"log_loss", loss}});
  };
  time("espalier", baseline_row(service.model));
  time("espalier, every column differs", odd_baseline(service));
}

}  // namespace
}  // namespace espalier

int main(int, char** argv) {
  return espalier::contend([=] { espalier::run(argv); });
}
