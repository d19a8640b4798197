// SPDX-License-Identifier: Apache-2.0
#include "train/interaction_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/stopwatch.h"
#include "encode/pairs.h"
#include "encode/row_sample.h"
#include "model/model_data.h"
#include "objective/loss.h"
#include "train/initialize.h"
#include "train/interactions.h"
#include "train/policy.h"
#include "train/rank_rows.h"
#include "train/screen.h"
#include "train/split.h"
#include "train/streams.h"
#include "train/trainer.h"

namespace espalier {

namespace {

Pair fit(const PairRequest& pair, const Schema& schema, const TrainOptions& options,
         const Dataset& data) {
  if (needs_grid(schema, pair.first, pair.second))
    return fit_grid(schema, pair.first, pair.second, pair.bins);
  return fit_pair(schema, pair.first, pair.second, pair.bins, options.max_categories, data);
}

Rows sampled_rows(std::size_t num_rows, std::size_t most) {
  Rows rows;
  visit_sample(num_rows, most, [&](std::size_t row) { rows.push_back(row); });
  return rows;
}

void keep_columns(const std::vector<std::size_t>& columns, Dataset& data) {
  LargeVector<float> cells(data.num_rows * columns.size());
  float* cell = cells.data();
  for (std::size_t r = 0; r < data.num_rows; ++r) {
    for (const std::size_t column : columns) *cell++ = data.row(r)[column];
  }
  data.cells = std::move(cells);
  data.num_features = columns.size();
}

// Columns are numbered as in the sample, unless a comment says otherwise.
class Search {
 public:
  // The sample has the columns of `named`, and others.
  Search(const Problem& problem, const std::vector<PairRequest>& named, Team& team,
         const TrainControl& control)
      : p_(problem),
        team_(team),
        control_(control),
        random_(Random(problem.options->seed).split(kInteractionStream)),
        options_(for_search(problem.options, problem.schema.label, problem.train.num_rows, 0.5)),
        sample_(subset(p_.train, draw_rows(), team_.ranks())),
        objective_(p_.schema.label, sample_),
        groups_(group_equal_rows(sample_)),
        tables_(groups_, kPairParts, kPairShrinkage, random_.split(3)) {
    tell(0, 0);
    choose_columns(named);
    schema_.label = p_.schema.label;
    for (const std::size_t column : columns_)
      schema_.features.push_back(p_.schema.features[column]);
    if (columns_.size() < sample_.num_features) keep_columns(columns_, sample_);
    predict_out_of_fold();
  }

  // The pairs to use, with their bins.
  std::vector<PairRequest> find() {
    std::vector<PairRequest> used;
    std::vector<Candidate> open = all_pairs();
    while (found_.size() < kMaxPairs && !is_stopped()) {
      keep_clear(open);
      if (open.empty()) break;
      const Candidate best = open.front();
      open.erase(open.begin());
      found_.push_back(take(best.first, best.second));
      if (best.gain.mean < kPairMinShare * deviance_ || used.size() + 1 < found_.size()) continue;
      used.push_back(found_.back());
      shares_.push_back(fmt::format("{:.1f} %", 100 * best.gain.mean / deviance_));
      improvement_ = {(used.size() > 1 ? improvement_.mean : 0) + best.gain.mean,
                      std::hypot(used.size() > 1 ? improvement_.error : 0, best.gain.error)};
    }
    return used;
  }

  // Chooses the bins that are open, of each pair beside those before it.
  void choose_bins(std::vector<PairRequest>& pairs) {
    const auto place = [&](std::size_t column) {
      return static_cast<std::size_t>(std::ranges::find(columns_, column) - columns_.begin());
    };
    for (PairRequest& pair : pairs) {
      const PairRequest own = take(place(pair.first), place(pair.second));
      if (pair.bins == 0) pair = own;
    }
  }

  bool is_stopped() const { return team_.stop_requested(); }
  std::int64_t rows_done() const { return rows_done_; }

  // All clear pairs that find() met: those to use, then others.
  const std::vector<PairRequest>& found() const { return found_; }

  /// Of the pairs in use together.
  Gain improvement() const { return improvement_; }

  std::string why() const {
    if (shares_.empty())
      return fmt::format("no pair of features clearly improves out-of-fold deviance{}",
                         found_.empty() ? "" : fmt::format(" by {} %", 100 * kPairMinShare));
    return fmt::format("out-of-fold deviance improves by {}", fmt::join(shares_, ", "));
  }

 private:
  struct Candidate {
    std::size_t first = 0;
    std::size_t second = 0;
    Gain gain = {};
  };

  // In ascending order; of many one of each stretch of neighbours.
  Rows draw_rows() const {
    const std::size_t count = p_.train.num_rows;
    if (count >= p_.many_rows) return sampled_rows(count, kPairMaxRows);
    Rows rows = rows_between(0, count);
    random_.split(1).shuffle(std::span(rows));
    rows.resize(std::min(count, kPairMaxRows));
    std::ranges::sort(rows);
    return rows;
  }

  // Sets columns_.
  void choose_columns(const std::vector<PairRequest>& named) {
    columns_.resize(sample_.num_features);
    std::iota(columns_.begin(), columns_.end(), std::size_t{0});
    if (columns_.size() <= kPairMaxColumns) return;
    double unused = 0;
    const std::vector<float> zeros(sample_.num_rows * p_.schema.label.num_levels());
    const std::vector<ScreenRow> rows = screen_rows(objective_, sample_, zeros, unused);
    std::vector<double> gains(columns_.size());
    run(gains.size(), [&](std::size_t c) {
      gains[c] = tables_.gain(rows, cells_of(p_.schema, c, kPairScreenBins)).mean;
    });
    for (const PairRequest& pair : named) {
      gains[pair.first] = gains[pair.second] = std::numeric_limits<double>::infinity();
    }
    std::ranges::stable_sort(columns_, std::ranges::greater(),
                             [&](std::size_t c) { return gains[c]; });
    columns_.resize(std::min(columns_.size(), std::max(kPairMaxColumns, 2 * named.size())));
    std::ranges::sort(columns_);
  }

  template <class Task>
  void run(std::size_t count, const Task& task) {
    team_.pool().run(static_cast<int>(count), [&](int i) { task(static_cast<std::size_t>(i)); });
  }

  Cells cells_of(const Schema& schema, std::size_t column, int bins) const {
    const Pair::Side side = fit_side(schema, column, bins, sample_);
    Cells cells{.of_row = std::vector<std::uint16_t>(sample_.num_rows), .count = side.num_bins()};
    for (std::size_t r = 0; r < sample_.num_rows; ++r)
      cells.of_row[r] = static_cast<std::uint16_t>(bin_of(side.edges, sample_.row(r)[column]));
    return cells;
  }

  Cells cells_of(std::size_t first, std::size_t second, int bins) const {
    return cross(cells_of(schema_, first, bins), cells_of(schema_, second, bins));
  }

  // Sets rows_ and deviance_.
  void predict_out_of_fold() {
    rows_.resize(sample_.num_rows);
    const std::vector<double> labels(sample_.labels.begin(), sample_.labels.end());
    for (const Split& fold :
         deal_folds(rows_between(0, sample_.num_rows), labels, kPairFolds, random_.split(2))) {
      if (is_stopped()) return;
      const Dataset valid_rows = subset(sample_, fold.valid);
      const std::vector<float> outputs = outputs_of(subset(sample_, fold.train), valid_rows);
      const std::vector<ScreenRow> rows = screen_rows(objective_, valid_rows, outputs, deviance_);
      for (std::size_t r = 0; r < rows.size(); ++r) rows_[fold.valid[r]] = rows[r];
    }
    deviance_ /= static_cast<double>(sample_.num_rows);
  }

  // Trains an additive model; returns its outputs for the validation rows.
  std::vector<float> outputs_of(const Dataset& train, const Dataset& valid_rows) {
    const Random random = random_.split(4);
    const Label& label = schema_.label;
    Network network({{{.kind = LayerKind::cal}, {.kind = LayerKind::lin, .outputs = 1}}},
                    input_wires(schema_), options_->monotone_calibrators, random.split(1));
    initialize(train, label, options_, random.split(2), network);
    const Dataset no_rows;
    const std::int64_t before = rows_done_;
    Trainer trainer(
        {.options = &options_,
         .objective = &objective_,
         .train = &train,
         .valid = &no_rows,
         .team = &team_,
         .on_progress = [&](std::int64_t rows, double loss) { tell(before + rows, loss); },
         .on_epoch = [](const Epoch&) {},
         .on_run = [] {},
         .on_stop = [] {}},
        network, random.split(3));
    trainer.run();
    rows_done_ = before + trainer.rows_done();
    return network_outputs(network, label, valid_rows, team_);
  }

  std::vector<Candidate> all_pairs() {
    for (std::size_t c = 0; c < columns_.size(); ++c)
      cells_.push_back(cells_of(schema_, c, kPairScreenBins));
    std::vector<Candidate> pairs;
    for (std::size_t a = 0; a < columns_.size(); ++a) {
      for (std::size_t b = a + 1; b < columns_.size(); ++b) pairs.push_back({a, b});
    }
    return pairs;
  }

  // Keeps the pairs that clearly improve the loss beside those that are taken, the best one first.
  // The gain of a pair is that of its cells less those of both features alone.
  void keep_clear(std::vector<Candidate>& pairs) {
    std::vector<double> alone(columns_.size());
    run(alone.size(),
        [&](std::size_t c) { alone[c] = std::max(0.0, tables_.gain(rows_, cells_[c]).mean); });
    run(pairs.size(), [&](std::size_t i) {
      Candidate& pair = pairs[i];
      pair.gain = tables_.gain(rows_, cross(cells_[pair.first], cells_[pair.second]));
      pair.gain.mean -= alone[pair.first] + alone[pair.second];
    });
    std::erase_if(pairs, [](const Candidate& pair) {
      return !(pair.gain.mean > kPairMinErrors * pair.gain.error);
    });
    std::ranges::stable_sort(pairs, std::ranges::greater(),
                             [](const Candidate& pair) { return pair.gain.mean; });
  }

  // Adds the table of a pair to the model. Returns the pair with its bins.
  PairRequest take(std::size_t first, std::size_t second) {
    PairRequest pair{columns_[first], columns_[second], kPairVertices};
    Cells cells = cells_of(first, second, kPairScreenBins);
    if (!needs_grid(schema_, first, second)) {
      double wanted = -std::numeric_limits<double>::infinity();
      for (const int bins : kPairBins) {
        Cells own = cells_of(first, second, bins);
        const double gain = tables_.gain(rows_, own).mean;
        if (gain < wanted) continue;
        wanted = std::max(gain, gain * kPairFinerBins);
        pair.bins = bins;
        cells = std::move(own);
      }
    }
    tables_.add_table(cells, rows_);
    return pair;
  }

  void tell(std::int64_t rows, double loss) {
    if (!control_.progress) return;
    const auto main =
        static_cast<std::int64_t>(p_.train.num_rows) * 2 * options_->epochs * p_.options->ensemble;
    const auto search =
        static_cast<std::int64_t>(sample_.num_rows * (kPairFolds - 1)) * options_->epochs;
    control_.progress({.options = &*p_.options,
                       .metric = p_.options->metric,
                       .loss = loss,
                       .rows_done = rows,
                       .rows_total = main + std::max(search, rows),
                       .seconds = watch_.seconds()});
  }

  const Problem& p_;
  Team& team_;
  const TrainControl& control_;
  const Random random_;
  const SettledOptions options_;
  const Stopwatch watch_;
  Dataset sample_;
  const Objective objective_;
  const std::vector<std::uint32_t> groups_;
  const CrossFit tables_;
  Schema schema_;                     // of the sample
  std::vector<std::size_t> columns_;  // of the table, in the sample
  std::vector<Cells> cells_;          // of each column
  std::vector<ScreenRow> rows_;       // out of fold, with the pairs that are taken
  double deviance_ = 0;               // half of it per row, out of fold
  std::int64_t rows_done_ = 0;
  std::vector<PairRequest> found_;
  std::vector<std::string> shares_;  // of the deviance, by which the pairs in use improve it
  // By all of them, about; NaN if there is none.
  Gain improvement_ = {std::numeric_limits<double>::quiet_NaN(),
                       std::numeric_limits<double>::quiet_NaN()};
};

// Pairs are fitted to the training rows, of many to a sample that all ranks have.
void add_pairs(const std::vector<PairRequest>& pairs, Problem& p, Team& team) {
  const bool is_sampled = p.train.num_rows >= p.many_rows;
  const Dataset sample =
      is_sampled ? subset(p.train, sampled_rows(p.train.num_rows, kPairMaxFitted), team.ranks())
                 : Dataset();
  for (const PairRequest& pair : pairs)
    p.schema.pairs.push_back(fit(pair, p.schema, *p.options, is_sampled ? sample : p.train));
}

}  // namespace

Problem choose_pairs(const std::vector<std::string>& wanted, Problem p, Team& team,
                     const TrainControl& control, std::vector<Choice>& choices) {
  std::vector<PairRequest> pairs = read_interactions(wanted, p.schema.features);
  // Crystals are searched for when the pairs are known; many classes have as many gradients.
  const bool searches = !p.schema.label.has_many_classes();
  const bool has_default_bins =
      !searches || p.architecture.layers.front().wiring == Wiring::crystals;
  for (PairRequest& pair : pairs) {
    if (pair.bins > 0) continue;
    const bool is_grid = needs_grid(p.schema, pair.first, pair.second);
    if (is_grid || has_default_bins) pair.bins = is_grid ? kPairVertices : kPairScreenBins;
  }
  const bool finds = searches && asks_for_interactions(wanted) && p.open.pairs &&
                     p.train.num_rows >= kPairMinRows && p.schema.features.size() >= 2;
  const bool chooses = std::ranges::any_of(pairs, [](const PairRequest& w) { return w.bins == 0; });
  if (finds || chooses) {
    Search search(p, pairs, team, control);
    if (finds) {
      pairs = search.find();
    } else {
      search.choose_bins(pairs);
    }
    choices.push_back(
        {.setting = "interactions",
         .value = fmt::format("{}", fmt::join(write_interactions(pairs, p.schema.features), ",")),
         .why = finds ? search.why() : "these bins improve out-of-fold deviance most",
         .alternatives = search.found().empty()
                             ? std::vector<std::string>()
                             : write_interactions(search.found(), p.schema.features),
         .improvement = search.improvement().mean,
         .error = search.improvement().error,
         .rows = search.rows_done()});
  }
  if (!pairs.empty()) add_pairs(pairs, p, team);
  append_pairs(p.schema.pairs, p.train);
  append_pairs(p.schema.pairs, p.valid);
  TrainOptions options = *p.options;
  options.interactions = write_interactions(pairs, p.schema.features);
  p.options = SettledOptions(std::move(options));
  return p;
}

}  // namespace espalier
