// SPDX-License-Identifier: Apache-2.0
#include "train/interaction_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "core/stopwatch.h"
#include "data/pairs.h"
#include "data/row_sample.h"
#include "model/model_data.h"
#include "objective/loss.h"
#include "train/held_out.h"
#include "train/initialize.h"
#include "train/interactions.h"
#include "train/screen.h"
#include "train/share.h"
#include "train/split.h"
#include "train/streams.h"
#include "train/trainer.h"

namespace espalier {

namespace {

constexpr std::size_t kFewestRows = 1000;  // below, a screen finds chance
constexpr std::size_t kFolds = 3;
constexpr std::size_t kMostColumns = 40;  // more are screened one by one first
constexpr int kScreenBins = 32;
constexpr int kBins[] = {16, 32, 64};    // a side of a crossed category
constexpr int kVertices[] = {4, 8, 16};  // a side of a grid
constexpr double kClear = 2;             // standard deviations, of a gain and of the fall of a loss
constexpr double kInDoubt = 1;           // of a fall that may be clear with more rows
constexpr std::size_t kMostTried = 4;    // pairs
constexpr std::size_t kMostFitted = 1'000'000;  // rows
constexpr float kProbe = 0.25f;                 // how far slopes are compared for a curvature
constexpr std::size_t kTurn = 0;                // of levels: each row is judged at one of them

// How many rows are searched: enough to see what is worth it. Of a wide table a tenth, so that the
// search is about a tenth of the time.
std::size_t rows_to_search(std::size_t rows, std::size_t columns) {
  constexpr std::size_t kMost = 30'000, kMostOfWide = 4000;
  return std::min(rows, columns <= kMostColumns ? kMost : std::max(kMostOfWide, rows / 10));
}

// The slope of the loss of each row with respect to the output, times the row's weight.
std::vector<float> slopes_of(const Objective& objective, const Dataset& data,
                             std::vector<float> outputs, float move) {
  for (float& output : outputs) output += move;
  const Rows rows = rows_between(0, data.num_rows);
  std::vector<float> slopes(data.num_rows);
  LossSum ignored;
  add_losses(objective, data, rows, kTurn, outputs.data(), slopes.data(), rows.size(), ignored);
  return slopes;
}

// Adds the slopes and curvatures of some rows.
void add_slopes(const Objective& objective, const Dataset& data, const std::vector<float>& outputs,
                ScreenRows& rows) {
  const std::vector<float> own = slopes_of(objective, data, outputs, 0);
  const std::vector<float> above = slopes_of(objective, data, outputs, kProbe);
  const std::vector<float> below = slopes_of(objective, data, outputs, -kProbe);
  rows.slopes.insert(rows.slopes.end(), own.begin(), own.end());
  for (std::size_t r = 0; r < own.size(); ++r)
    rows.curvatures.push_back(std::max(0.0f, (above[r] - below[r]) / (2 * kProbe)));
}

// Of outputs at all levels, that of each row at the one at which it is screened.
std::vector<float> at_one_level(const Label& label, const std::vector<float>& outputs) {
  std::vector<float> own;
  const std::size_t levels = label.num_levels();
  for (std::uint64_t r = 0; r < outputs.size() / levels; ++r)
    own.push_back(outputs[r * levels + level_of(label, r, kTurn)]);
  return own;
}

Pair made_of(const PairWish& pair, const Schema& schema, const TrainOptions& options,
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

class Search {
 public:
  Search(const Prepared& prepared, Team& team, const TrainControl& control)
      : p_(prepared),
        team_(team),
        control_(control),
        random_(Random(prepared.options->seed).split(kInteractionStream)),
        short_(with_epochs(prepared.options, (prepared.options->epochs + 1) / 2)) {
    const Rows rows = draw_rows();
    std::vector<double> labels;
    for (const std::uint64_t row : rows) labels.push_back(p_.train.labels[row]);
    for (const Split& fold : deal_folds(rows, labels, kFolds, random_.split(2)))
      folds_.push_back({subset(p_.train, fold.train, team_.ranks()),
                        subset(p_.train, fold.valid, team_.ranks())});
  }

  // The pairs that are worth it, with their bins.
  std::vector<PairWish> find() {
    std::vector<PairWish> chosen;
    const std::vector<PairGain> standing_out = screen();
    Judged without;
    if (!standing_out.empty()) without = {losses_with(chosen, 0)};
    const Judged before = without;
    std::vector<PairWish> others;
    for (const PairGain& pair : standing_out) {
      if (is_stopped()) break;
      Judged with(1);
      const PairWish best = best_bins(chosen, {pair.first, pair.second}, with.front());
      if (!lowers_the_loss(best, chosen, without, with)) {
        others.push_back(best);
        continue;
      }
      chosen.push_back(best);
      without = std::move(with);
    }
    tried_ = chosen;
    tried_.insert(tried_.end(), others.begin(), others.end());
    if (standing_out.empty()) {
      why_ = "no pair of columns stands out";
    } else if (chosen.empty()) {
      why_ = fmt::format("of {} that stand out none lowers the loss of held-out rows clearly",
                         standing_out.size());
    } else {
      const Fall fall = fall_of(before.front(), without.front());
      why_ = fmt::format("the loss of held-out rows is {:.1f} deviations lower",
                         fall.mean / fall.error);
    }
    return chosen;
  }

  // Named pairs, each with a number of bins.
  std::vector<PairWish> choose_bins(std::vector<PairWish> pairs) {
    std::vector<PairWish> chosen;
    for (const PairWish& pair : pairs) {
      std::vector<double> ignored;
      chosen.push_back(pair.bins > 0 || is_stopped() ? pair : best_bins(chosen, pair, ignored));
    }
    return chosen;
  }

  bool is_stopped() const { return team_.stop_requested(); }
  std::int64_t rows_done() const { return rows_done_; }
  const std::string& why() const { return why_; }

  // All that find() tried, with their bins; the chosen ones first.
  const std::vector<PairWish>& tried() const { return tried_; }

 private:
  struct Fold {
    Dataset train;
    Dataset held_out;
  };

  // The losses of the rows that the first fold holds out, of those of the second if it was asked ...
  using Judged = std::vector<std::vector<double>>;

  // In ascending order; of many one of each stretch of neighbours.
  Rows draw_rows() const {
    const std::size_t most = rows_to_search(p_.train.num_rows, p_.schema.features.size());
    if (p_.train.num_rows >= p_.many_rows) return sampled_rows(p_.train.num_rows, most);
    Rows rows = rows_between(0, p_.train.num_rows);
    random_.split(1).shuffle(std::span(rows));
    rows.resize(most);
    std::ranges::sort(rows);
    return rows;
  }

  static SettledOptions with_epochs(const SettledOptions& options, int epochs) {
    TrainOptions changed = *options;
    changed.epochs = epochs;
    return SettledOptions(std::move(changed));
  }

  // Trains a network on the rows of a fold that it does not hold out; returns its outputs for those
  // that it does, [row][num_scores].
  std::vector<float> outputs_of(const Fold& fold, const Schema& schema,
                                const SettledOptions& options) {
    const Random random = random_.split(4);
    Network network(p_.architecture, input_wires(schema), options->monotone_calibrators,
                    random.split(1));
    const Objective objective(schema.label, fold.train);
    initialize(fold.train, schema.label, options, random.split(2), network);
    const Dataset no_rows;
    const std::int64_t before = rows_done_;
    Trainer trainer(
        {.options = &options,
         .objective = &objective,
         .train = &fold.train,
         .valid = &no_rows,
         .team = &team_,
         .on_progress = [&](std::int64_t rows, double loss) { tell(before + rows, loss); },
         .on_epoch = [](const Epoch&) {},
         .on_run = [] {},
         .on_stop = [] {}},
        network, random.split(3));
    trainer.run();
    rows_done_ = before + trainer.rows_done();
    return network_outputs(network, schema.label, fold.held_out, team_);
  }

  // Whether a pair beside the chosen ones lowers the loss clearly. What the rows of one fold leave in
  // doubt those of the next decide, so that it is not left to the seed.
  bool lowers_the_loss(const PairWish& pair, std::vector<PairWish> chosen, Judged& without,
                       Judged& with) {
    std::vector<double> all_without = without.front(), all_with = with.front();
    while (true) {
      const Fall fall = fall_of(all_without, all_with);
      if (fall.is_clear(kClear)) return true;
      const std::size_t next = with.size();
      if (!fall.is_clear(kInDoubt) || next == folds_.size() || is_stopped()) return false;
      if (without.size() == next) without.push_back(losses_with(chosen, next));
      chosen.push_back(pair);
      with.push_back(losses_with(chosen, next));
      chosen.pop_back();
      all_without.insert(all_without.end(), without[next].begin(), without[next].end());
      all_with.insert(all_with.end(), with[next].begin(), with[next].end());
    }
  }

  // The losses of the rows that a fold holds out, with some pairs.
  std::vector<double> losses_with(const std::vector<PairWish>& pairs, std::size_t number) {
    Schema schema = p_.schema;
    Fold fold = folds_[number];
    for (const PairWish& pair : pairs)
      schema.pairs.push_back(made_of(pair, schema, *p_.options, fold.train));
    append_pairs(schema.pairs, fold.train);
    append_pairs(schema.pairs, fold.held_out);
    const Objective objective(schema.label, fold.train);
    return losses_of(objective, fold.held_out, outputs_of(fold, schema, p_.options));
  }

  // The finest bins whose loss is within its noise of the lowest: the network to come has more rows
  // for them.
  PairWish best_bins(std::vector<PairWish> chosen, PairWish pair, std::vector<double>& losses) {
    chosen.push_back(pair);
    std::vector<std::vector<double>> tried;
    const std::span<const int> choices =
        needs_grid(p_.schema, pair.first, pair.second) ? std::span(kVertices) : std::span(kBins);
    for (const int bins : choices) {
      chosen.back().bins = bins;
      tried.push_back(losses_with(chosen, 0));
    }
    const auto lowest = std::ranges::min_element(tried, {}, mean_of);
    std::size_t finest = tried.size() - 1;
    while (fall_of(tried[finest], *lowest).is_clear(1)) --finest;
    pair.bins = choices[finest];
    losses = std::move(tried[finest]);
    return pair;
  }

  // Fills the bins of some columns, fold after fold.
  void fill_bins(const std::vector<std::size_t>& columns, ScreenRows& rows) const {
    rows.bins.clear();
    rows.num_bins.clear();
    for (const std::size_t column : columns) {
      const Pair::Side side = fit_side(p_.schema, column, kScreenBins, folds_.front().train);
      std::vector<std::uint16_t>& bins = rows.bins.emplace_back();
      for (const Fold& fold : folds_) {
        for (std::size_t r = 0; r < fold.held_out.num_rows; ++r)
          bins.push_back(
              static_cast<std::uint16_t>(bin_of(side.edges, fold.held_out.row(r)[column])));
      }
      rows.num_bins.push_back(side.num_bins());
    }
  }

  // All columns; of many those that say most of the label alone.
  std::vector<std::size_t> screened_columns() {
    std::vector<std::size_t> columns(p_.schema.features.size());
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    if (columns.size() <= kMostColumns) return columns;
    ScreenRows rows;
    for (const Fold& fold : folds_)
      add_slopes({p_.schema.label, fold.train}, fold.held_out,
                 std::vector<float>(fold.held_out.num_rows), rows);
    fill_bins(columns, rows);
    const std::vector<double> gains = screen_columns(rows, random_.split(3), team_.pool());
    std::vector<std::size_t> order(columns.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](std::size_t c) { return gains[c]; });
    order.resize(kMostColumns);
    std::ranges::sort(order);
    for (std::size_t& c : order) c = columns[c];
    return order;
  }

  // The pairs of features whose gain stands out beside networks that are trained half as long.
  std::vector<PairGain> screen() {
    const std::vector<std::size_t> columns = screened_columns();
    if (columns.size() < 2) return {};
    ScreenRows rows;
    for (const Fold& fold : folds_) {
      const Label& label = p_.schema.label;
      add_slopes({label, fold.train}, fold.held_out,
                 at_one_level(label, outputs_of(fold, p_.schema, short_)), rows);
      if (is_stopped()) return {};
    }
    fill_bins(columns, rows);
    std::vector<PairGain> pairs = screen_pairs(rows, random_.split(3), team_.pool());
    std::erase_if(pairs, [](const PairGain& pair) { return pair.gain <= kClear * pair.error; });
    if (pairs.size() > kMostTried) pairs.resize(kMostTried);
    for (PairGain& pair : pairs) {
      pair.first = columns[pair.first];
      pair.second = columns[pair.second];
    }
    return pairs;
  }

  void tell(std::int64_t rows, double loss) {
    if (!control_.progress) return;
    const auto main =
        static_cast<std::int64_t>(p_.train.num_rows) * p_.options->epochs * p_.options->ensemble;
    const auto folds =
        static_cast<std::int64_t>(folds_.front().train.num_rows * kFolds) * short_->epochs;
    control_.progress({.options = &*p_.options,
                       .metric = p_.options->metric,
                       .loss = loss,
                       .rows_done = rows,
                       .rows_total = main + std::max(folds, rows),
                       .seconds = watch_.seconds()});
  }

  const Prepared& p_;
  Team& team_;
  const TrainControl& control_;
  const Random random_;
  const SettledOptions short_;
  const Stopwatch watch_;
  std::vector<Fold> folds_;
  std::int64_t rows_done_ = 0;
  std::vector<PairWish> tried_;
  std::string why_ = "of several numbers of bins they lower the loss of held-out rows most";
};

// Pairs are fitted to the training rows, of many to a sample that all ranks have.
void add_pairs(const std::vector<PairWish>& pairs, Prepared& p, Team& team) {
  const bool is_sampled = p.train.num_rows >= p.many_rows;
  const Dataset sample =
      is_sampled ? subset(p.train, sampled_rows(p.train.num_rows, kMostFitted), team.ranks())
                 : Dataset();
  for (const PairWish& pair : pairs)
    p.schema.pairs.push_back(made_of(pair, p.schema, *p.options, is_sampled ? sample : p.train));
}

}  // namespace

void settle_interactions(const std::vector<std::string>& wanted, Prepared& p, Team& team,
                         const TrainControl& control) {
  std::vector<PairWish> pairs = read_interactions(wanted, p.schema.features);
  // Crystals are searched for when the pairs are known; the slopes of many classes are many.
  const bool searches = !p.schema.label.has_many_classes();
  if (!searches || p.architecture.layers.front().wiring == Wiring::crystals) {
    for (PairWish& pair : pairs) {
      const bool is_grid = needs_grid(p.schema, pair.first, pair.second);
      if (pair.bins == 0) pair.bins = is_grid ? kVertices[1] : kScreenBins;
    }
  }
  const bool finds = searches && asks_for_interactions(wanted) && p.finds_interactions &&
                     p.train.num_rows >= kFewestRows;
  const bool chooses = std::ranges::any_of(pairs, [](const PairWish& w) { return w.bins == 0; });
  if (finds || chooses) {
    const Stopwatch watch;
    Search search(p, team, control);
    pairs = finds ? search.find() : search.choose_bins(std::move(pairs));
    p.search_rows += search.rows_done();
    p.search_seconds += watch.seconds();
    p.search_stopped = search.is_stopped();
    if (!search.tried().empty()) p.pairs = write_interactions(search.tried(), p.schema.features);
    p.choices.push_back(
        {"interactions",
         fmt::format("{}", fmt::join(write_interactions(pairs, p.schema.features), ",")),
         search.why()});
  }
  if (!pairs.empty()) add_pairs(pairs, p, team);
  append_pairs(p.schema.pairs, p.train);
  append_pairs(p.schema.pairs, p.valid);
  TrainOptions options = *p.options;
  options.interactions = write_interactions(pairs, p.schema.features);
  p.options = SettledOptions(std::move(options));
}

}  // namespace espalier
