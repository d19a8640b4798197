// SPDX-License-Identifier: Apache-2.0
#include "eval/evaluate.h"

#include <fmt/format.h>

#include "core/default_floats.h"
#include "core/thread_pool.h"
#include "csv/cell.h"
#include "espalier/error.h"
#include "objective/label.h"
#include "objective/metrics.h"
#include "serve/compiled.h"

namespace espalier {

std::vector<MetricValue> evaluate(const Model& model, const Dataset& data, ThreadPool& pool) {
  return all_metrics(model.schema().label, data, scores(Predictor(model), data, pool));
}

Evaluation evaluate(const Model& model, const Table& table) {
  const DefaultFloats floats;
  const Rows rows = labelled_rows(model.schema().label, table);
  if (rows.empty()) {
    throw Error(ErrorKind::data, fmt::format("{}: label '{}' is missing in every row", table.name,
                                             printable(model.schema().label.name)));
  }
  ThreadPool pool(0);
  return {.rows = rows.size(),
          .rows_unlabelled = table.num_rows - rows.size(),
          .metrics = evaluate(model, encode_labelled(model.schema(), table, rows), pool)};
}

}  // namespace espalier
