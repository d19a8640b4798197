// SPDX-License-Identifier: Apache-2.0
#include "train/trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "boost/bins.h"
#include "boost/decision_forest.h"
#include "boost/forest.h"
#include "model/model_data.h"
#include "objective/loss.h"
#include "train/policy.h"
#include "train/streams.h"

namespace espalier {

namespace {

std::string no_trees_for(const Label& label, std::size_t rows, std::size_t many_rows) {
  const std::size_t levels = label.num_levels();
  const char* const what = label.quantiles.empty() ? "grades" : "quantiles";
  if (label.has_many_classes()) return "classes without an order cannot have trees";
  if (levels > kMaxBins)
    return fmt::format("trees take at most {} {}, and there are {}", kMaxBins, what, levels);
  if (rows * levels >= many_rows) {
    return fmt::format("trees take fewer than {} rows{}, and there are {}", many_rows,
                       levels > 1 ? fmt::format(", times {} {}", levels, what) : "", rows);
  }
  return {};
}

// Of a tree, in units of a network's rows.
std::int64_t rows_of(std::int64_t trees, const Problem& p) {
  return static_cast<std::int64_t>(kRowsOfATree * static_cast<double>(trees) *
                                   static_cast<double>(p.train.num_rows));
}

// Those that an earlier run of the fit has grown.
std::vector<Tree> trees_of(const Fit& fit) {
  if (fit.state.empty()) return {};
  Reader reader(fit.state, fit.place, "checkpoint");
  std::vector<Tree> trees = read_trees(reader);
  if (reader.left() > 0) reader.fail(fmt::format("{} bytes too many", reader.left()));
  return trees;
}

}  // namespace

std::string TreeLearner::obstacle(const Problem& p) const {
  return no_trees_for(p.schema.label, p.train.num_rows, p.many_rows);
}

std::int64_t TreeLearner::cost(const Problem& p) const {
  return rows_of(std::min(p.options->trees.value(), kUsualTrees), p);
}

std::optional<Member> TreeLearner::fit(const Problem& p, const Fit& fit) const {
  const std::vector<Wire> wires = input_wires(p.schema);
  const Objective objective(p.schema.label, p.train);
  const TrainOptions& options = *p.options;
  const std::vector<Tree> start = trees_of(fit);
  const auto keep = [&](std::span<const Tree> grown) {
    std::string state;
    put_trees(state, grown);
    fit.keep_state(std::move(state));
  };
  const auto goes_on = [&](std::span<const Tree> grown) {
    if (fit.state_is_due()) keep(grown);
    const int trees = static_cast<int>(grown.size());
    fit.report(
        {.rows_done = rows_of(trees, p),
         .rows_total = rows_of(std::max(trees, std::min(options.trees.value(), kUsualTrees)), p),
         .last = {.member = fit.number},
         .trees = trees});
    // A report may ask to stop, and a fit that is stopped keeps its state.
    fit.team->agree_on_stop();
    if (fit.team->stop_requested()) keep(grown);
    return !fit.team->stop_requested();
  };
  const Forest forest = grow_forest(
      {.objective = &objective,
       .wires = std::span(wires).first(p.schema.features.size()),
       .level_wire = wires.size() - 1,
       .train = &p.train,
       .valid = &p.valid,
       .plan = {options.trees, options.tree_leaves, options.tree_rate},
       .random =
           Random(options.seed).split(kTreeStream).split(static_cast<std::uint64_t>(fit.number)),
       .pool = &fit.team->pool(),
       .goes_on = goes_on,
       .start = start});
  if (forest.trees.empty() || fit.team->stop_requested()) return std::nullopt;
  return Member{.fitted = decision_forest(forest, p.schema),
                .rows = rows_of(static_cast<std::int64_t>(forest.trees.size()), p)};
}

}  // namespace espalier
