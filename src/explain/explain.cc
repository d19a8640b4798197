// SPDX-License-Identifier: Apache-2.0
#include "espalier/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/default_floats.h"
#include "core/thread_pool.h"
#include "espalier/error.h"
#include "explain/game_options.h"
#include "explain/row_explainer.h"
#include "explain/rows_in_turn.h"

namespace espalier {

Explanation explain(const Predictor& predictor, std::span<const float> rows,
                    std::span<const float> baseline, const ExplainOptions& options) {
  const DefaultFloats floats;
  check_game(options.exact_columns, options.permutations);
  check_baseline(predictor.model(), baseline.size());
  if (rows.size() % predictor.num_cells() != 0) {
    throw Error(ErrorKind::argument, fmt::format("explain: {} cells; wanted {} for each row",
                                                 rows.size(), predictor.num_cells()));
  }
  const Schema& schema = predictor.model().schema();
  const std::optional<Target> wanted = find_target(schema.label, options.output);
  const std::size_t columns = schema.features.size(), width = predictor.num_cells();
  const std::size_t num_rows = rows.size() / width;
  constexpr int kPermutations = 128;
  const GamePlan plan =
      make_plan(columns, options.exact_columns, options.permutations, kPermutations, options.seed);
  Explanation result{.num_rows = num_rows, .num_columns = columns};
  result.outputs.resize(num_rows);
  result.scores.resize(num_rows);
  result.baselines.resize(num_rows);
  result.shares.resize(num_rows * columns);
  result.errors.resize(num_rows * columns);
  const auto explain_rows = [&](std::size_t begin, std::size_t end) {
    RowExplainer explainer(predictor, baseline, plan);
    for (std::size_t r = begin; r < end; ++r) {
      explainer.set_row(rows.subspan(r * width, width));
      const Target target = wanted ? *wanted : predicted_target(explainer.scores());
      result.outputs[r] = target.output;
      result.scores[r] = static_cast<float>(target.value(explainer.scores()));
      result.baselines[r] = static_cast<float>(target.value(explainer.baseline_scores()));
      explainer.share({&target, 1}, std::span(result.shares).subspan(r * columns, columns),
                      std::span(result.errors).subspan(r * columns, columns));
    }
  };
  ThreadPool pool(num_rows == 1 ? 1 : options.threads);
  rows_in_turn(pool, num_rows, explain_rows, [&](std::size_t done) {
    if (options.progress) options.progress(done);
  });
  return result;
}

std::vector<std::size_t> top_columns(std::span<const double> shares, std::size_t top,
                                     Adverse adverse) {
  const DefaultFloats floats;
  const auto badness = [&](std::size_t column) {
    switch (adverse) {
      case Adverse::higher:
        return shares[column];
      case Adverse::lower:
        return -shares[column];
      case Adverse::either:
        break;
    }
    return std::abs(shares[column]);
  };
  std::vector<std::size_t> columns;
  for (std::size_t f = 0; f < shares.size(); ++f) {
    if (badness(f) > 0) columns.push_back(f);
  }
  std::ranges::stable_sort(columns, std::greater<>(), badness);
  columns.resize(std::min(columns.size(), top));
  return columns;
}

}  // namespace espalier
