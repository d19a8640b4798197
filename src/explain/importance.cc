// SPDX-License-Identifier: Apache-2.0
// Feature importance: how much worse the metric gets and how far scores move when a feature is
// shuffled among the rows, and the size of its Shapley values.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/default_floats.h"
#include "core/random.h"
#include "core/thread_pool.h"
#include "csv/cell.h"
#include "encode/encode.h"
#include "encode/pairs.h"
#include "encode/roles.h"
#include "espalier/error.h"
#include "espalier/explain.h"
#include "espalier/table.h"
#include "explain/game_options.h"
#include "explain/row_explainer.h"
#include "explain/rows_in_turn.h"
#include "objective/label.h"
#include "objective/metrics.h"
#include "serve/compiled.h"

namespace espalier {

namespace {

// Weighted mean and standard deviation. Equal weights are those of repeats: then the deviation is
// that of a sample.
Spread spread_of(std::span<const double> numbers) {
  const auto count = static_cast<double>(numbers.size());
  double mean = 0, squares = 0;
  for (const double number : numbers) mean += number / count;
  for (const double number : numbers) squares += (number - mean) * (number - mean);
  return {mean, count > 1 ? std::sqrt(squares / (count - 1)) : 0};
}

Spread weighted_spread(std::span<const double> numbers, std::span<const double> weights) {
  double total = 0, mean = 0, squares = 0;
  for (const double weight : weights) total += weight;
  for (std::size_t i = 0; i < numbers.size(); ++i) mean += weights[i] / total * numbers[i];
  for (std::size_t i = 0; i < numbers.size(); ++i)
    squares += weights[i] / total * (numbers[i] - mean) * (numbers[i] - mean);
  return {mean, std::sqrt(squares)};
}

// The rows to use: those with a label, or all if the table has no labels.
struct ScoredTable {
  bool is_labelled;
  Rows rows;
  Dataset data;
};

// Without a weight column, rows have equal weights.
Dataset encode_scored(Schema schema, const Table& table, const Rows& rows) {
  const auto weight = schema.beside.find(Role::weight);
  if (weight != schema.beside.end() && table.find(weight->second) == nullptr)
    schema.beside.erase(weight);
  return encode_labelled(schema, table, rows);
}

ScoredTable read_scored(const Schema& schema, const Table& table) {
  if (table.find(schema.label.name) == nullptr)
    return {false, all_rows(table), encode_to_predict(schema, table)};
  Rows rows = labelled_rows(schema.label, table);
  if (rows.empty()) {
    throw Error(ErrorKind::data, fmt::format("{}: label '{}' is missing in every row", table.name,
                                             printable(schema.label.name)));
  }
  Dataset data = encode_scored(schema, table, rows);
  return {true, std::move(rows), std::move(data)};
}

// Permutes the values of one feature among the rows; pairs follow.
void shuffle_feature(const Schema& schema, std::size_t feature, const Rows& order,
                     const Dataset& from, Dataset& to) {
  for (std::size_t r = 0; r < to.num_rows; ++r)
    to.cells[r * to.num_features + feature] = from.row(order[r])[feature];
  for (std::size_t p = 0; p < schema.pairs.size(); ++p) {
    const Pair& pair = schema.pairs[p];
    if (pair.first.feature != feature && pair.second.feature != feature) continue;
    for (std::size_t r = 0; r < to.num_rows; ++r) {
      float* const row = to.cells.data() + r * to.num_features;
      row[schema.features.size() + p] = encode_pair(pair, row);
    }
  }
}

// The mean over rows and outputs of how far the explained number moved.
double mean_move(const std::vector<Target>& targets, const Dataset& data,
                 std::span<const float> before, std::span<const float> after) {
  const std::size_t width = targets.size();
  double sum = 0, total = 0;
  for (std::size_t r = 0; r < data.num_rows; ++r) {
    double moves = 0;
    for (const Target& target : targets) {
      moves += std::abs(target.value(after.subspan(r * width, width)) -
                        target.value(before.subspan(r * width, width)));
    }
    sum += data.weight(r) * moves;
    total += data.weight(r);
  }
  return sum / (total * static_cast<double>(width));
}

// Progress: the work done, of that of all repeats and Shapley rows.
class Report {
 public:
  Report(const ImportanceOptions& options, double total) : options_(options), total_(total) {}
  void add(double work) {
    done_ += work;
    if (options_.progress) options_.progress(std::min(1.0, done_ / total_));
  }

 private:
  const ImportanceOptions& options_;
  double total_;
  double done_ = 0;
};

class Evaluator {
 public:
  Evaluator(const Model& model, const Table& table, const ImportanceOptions& options)
      : schema_(model.schema()),
        table_(table),
        options_(options),
        predictor_(model),
        scored_(read_scored(schema_, table)),
        targets_(all_targets(schema_.label)),
        pool_(options.threads),
        report_(options, static_cast<double>(schema_.features.size()) * options.repeats +
                             kSharesWork * (options.shared_rows > 0)) {}

  Importance run() {
    const Rows rows = rows_to_shuffle();
    Importance result{.rows = rows.size(), .value = NAN};
    for (const Feature& feature : schema_.features)
      result.columns.push_back({feature.name, {NAN, NAN}, {}, {NAN, NAN}});
    if (rows.size() < scored_.data.num_rows) {
      shuffle_all(subset(scored_.data, rows), result);
    } else {
      shuffle_all(scored_.data, result);
    }
    if (options_.shared_rows > 0) share_all(result);
    return result;
  }

 private:
  static constexpr double kSharesWork = 100;  // in units of shuffles, roughly

  // Ascending.
  Rows rows_to_shuffle() const {
    constexpr std::size_t kLeastRows = 200;
    const std::size_t all = scored_.rows.size();
    const std::size_t wanted = options_.shuffled_rows > 0
                                   ? options_.shuffled_rows
                                   : samples_per_column(all, schema_.features.size(), kLeastRows);
    if (wanted >= all) return rows_between(0, all);
    Rows rows = draw_rows(wanted, kShuffledStream);
    std::ranges::sort(rows);
    return rows;
  }

  // All features use the same permutations.
  void shuffle_all(const Dataset& data, Importance& result) {
    const std::vector<float> plain = scores(predictor_, data, pool_);
    if (scored_.is_labelled) {
      result.metric = settle_metric(options_.metric, schema_.label);
      result.value = evaluate(result.metric, schema_.label, data, plain);
    }
    const double sign = larger_is_better(result.metric) ? -1 : 1;
    const Rows same = rows_between(0, data.num_rows);
    std::vector<Rows> orders(static_cast<std::size_t>(options_.repeats), same);
    const Random random(options_.seed);
    for (std::size_t i = 0; i < orders.size(); ++i) random.split(i).shuffle(std::span(orders[i]));
    Dataset shuffled = data;
    for (std::size_t f = 0; f < schema_.features.size(); ++f) {
      std::vector<double> losses, moves;
      for (const Rows& order : orders) {
        shuffle_feature(schema_, f, order, data, shuffled);
        const std::vector<float> now = scores(predictor_, shuffled, pool_);
        moves.push_back(mean_move(targets_, data, plain, now));
        if (scored_.is_labelled) {
          const double value = evaluate(result.metric, schema_.label, data, now);
          losses.push_back(sign * (value - result.value));
        }
        report_.add(1);
      }
      shuffle_feature(schema_, f, same, data, shuffled);
      if (scored_.is_labelled) result.columns[f].loss = spread_of(losses);
      result.columns[f].move = spread_of(moves);
    }
  }

  void share_all(Importance& result) {
    const std::size_t columns = schema_.features.size();
    const Rows chosen = draw_rows(options_.shared_rows, kRowsStream);
    Rows of_table;
    std::vector<double> weights;
    for (const std::uint64_t r : chosen) {
      of_table.push_back(scored_.rows[r]);
      weights.push_back(scored_.data.weight(r));
    }
    const std::vector<float> rows = predictor_.rows(take_rows(table_, of_table));
    const std::vector<double> sizes = share_sizes(rows, chosen.size());
    result.shared_rows = chosen.size();
    for (std::size_t f = 0; f < columns; ++f) {
      result.columns[f].share =
          weighted_spread(std::span(sizes).subspan(f * chosen.size(), chosen.size()), weights);
    }
  }

  // Of the evaluated rows, in the order in which they are drawn.
  Rows draw_rows(std::size_t most, std::uint64_t stream) const {
    Rows rows = rows_between(0, scored_.rows.size());
    Random(options_.seed).split(stream).shuffle(std::span(rows));
    rows.resize(std::min(rows.size(), most));
    return rows;
  }

  // The mean over outputs of absolute Shapley values, [columns][rows].
  std::vector<double> share_sizes(const std::vector<float>& rows, std::size_t num_rows) {
    const std::size_t columns = schema_.features.size(), width = predictor_.num_cells();
    const std::vector<float> baseline =
        options_.baseline.empty() ? baseline_row(predictor_.model()) : options_.baseline;
    constexpr int kPermutations = 32;
    const GamePlan plan = make_plan(columns, options_.exact_columns, options_.permutations,
                                    kPermutations, options_.seed);
    std::vector<double> sizes(num_rows * columns);
    const auto task = [&](std::size_t begin, std::size_t end) {
      RowExplainer explainer(predictor_, baseline, plan);
      std::vector<double> shares(targets_.size() * columns), errors(shares.size());
      for (std::size_t r = begin; r < end; ++r) {
        explainer.set_row(std::span(rows).subspan(r * width, width));
        explainer.share(targets_, shares, errors);
        for (std::size_t i = 0; i < shares.size(); ++i) {
          sizes[i % columns * num_rows + r] +=
              std::abs(shares[i]) / static_cast<double>(targets_.size());
        }
      }
    };
    std::size_t before = 0;
    rows_in_turn(pool_, num_rows, task, [&](std::size_t done) {
      report_.add(kSharesWork * static_cast<double>(done - std::exchange(before, done)) /
                  static_cast<double>(num_rows));
    });
    return sizes;
  }

  static constexpr std::uint64_t kRowsStream = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kShuffledStream = kRowsStream + 1;

  const Schema& schema_;
  const Table& table_;
  const ImportanceOptions& options_;
  const Predictor predictor_;
  const ScoredTable scored_;
  const std::vector<Target> targets_;
  ThreadPool pool_;
  Report report_;
};

}  // namespace

Importance importance(const Model& model, const Table& table, const ImportanceOptions& options) {
  const DefaultFloats floats;
  check_game(options.exact_columns, options.permutations);
  check_range("repeats", options.repeats, 1, 1'000'000);
  if (!options.baseline.empty()) check_baseline(model, options.baseline.size());
  if (table.num_rows == 0)
    throw Error(ErrorKind::data, fmt::format("{}: no rows; wanted one at least", table.name));
  return Evaluator(model, table, options).run();
}

}  // namespace espalier
