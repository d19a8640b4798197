// SPDX-License-Identifier: Apache-2.0
#include "eval/judge.h"

#include "core/thread_pool.h"
#include "data/encode.h"
#include "espalier/metrics.h"
#include "serve/compiled.h"

namespace espalier {

std::vector<MetricValue> judge(const Model& model, const Dataset& data, ThreadPool& pool) {
  const std::vector<float> row_scores = scores(Predictor(model), data, pool);
  std::vector<MetricValue> metrics;
  for (const Metric metric : metrics_of(model.schema().label.task)) {
    metrics.push_back({metric, compute_metric(metric, data.labels, row_scores, data.weights)});
  }
  return metrics;
}

Evaluation evaluate(const Model& model, const Table& table) {
  const Rows rows = labelled_rows(model.schema().label, table);
  ThreadPool pool(0);
  return {.rows = rows.size(),
          .rows_unlabelled = table.num_rows - rows.size(),
          .metrics = judge(model, encode(model.schema(), table, rows), pool)};
}

}  // namespace espalier
