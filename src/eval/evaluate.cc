// SPDX-License-Identifier: Apache-2.0
#include "core/thread_pool.h"
#include "data/encode.h"
#include "espalier/metrics.h"
#include "model/model_data.h"

namespace espalier {

Evaluation evaluate(const Model& model, const Table& table) {
  const Schema& schema = model.schema();
  const Rows rows = labelled_rows(schema.label, table);
  const Dataset data = encode(schema, table, rows);
  ThreadPool pool(0);
  const std::vector<float> row_scores = scores(model.data(), data, pool);
  Evaluation evaluation{.rows = rows.size(), .rows_unlabelled = table.num_rows - rows.size()};
  for (const Metric metric : metrics_of(schema.label.task)) {
    evaluation.metrics.push_back(
        {metric, compute_metric(metric, data.labels, row_scores, data.weights)});
  }
  return evaluation;
}

}  // namespace espalier
