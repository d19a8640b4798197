// SPDX-License-Identifier: Apache-2.0
#include "train/mixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "objective/fit_label.h"
#include "objective/link.h"
#include "objective/loss.h"
#include "objective/metrics.h"
#include "objective/quantile_shift.h"
#include "serve/compiled.h"
#include "train/improvement.h"
#include "train/policy.h"
#include "train/rank_rows.h"

namespace espalier {

namespace {

// Whose predictions are held in memory together.
constexpr std::size_t kRowsAtATime = std::size_t{1} << 18;

std::vector<double> mixed(const std::vector<double>& networks, const std::vector<double>& trees,
                          double weight) {
  std::vector<double> outputs;
  for (std::size_t i = 0; i < networks.size(); ++i)
    outputs.push_back((1 - weight) * networks[i] + weight * trees[i]);
  return outputs;
}

// The mixing weight of the trees with the least loss on validation rows; 0 unless that is clearly
// lower than the loss without them.
Choice choose_mixing_weight(const Objective& objective, const Dataset& rows,
                            const std::vector<double>& networks, const std::vector<double>& trees) {
  const auto losses = [&](double weight) {
    const std::vector<double> outputs = mixed(networks, trees, weight);
    return losses_of(objective, rows, {outputs.begin(), outputs.end()});
  };
  Choice choice{.setting = "tree_share", .value = "0", .alternatives = {"0"}};
  const std::vector<double> without = losses(0);
  std::vector<double> least = without;
  for (int k = 1; k < kMixingSteps; ++k) {
    const double weight = static_cast<double>(k) / kMixingSteps;
    choice.alternatives.push_back(fmt::format("{}", weight));
    std::vector<double> own = losses(weight);
    if (mean_of(own) >= mean_of(least)) continue;
    least = std::move(own);
    choice.value = choice.alternatives.back();
  }
  const Improvement improvement = improvement_of(without, least);
  choice.improvement = improvement.mean;
  choice.error = improvement.error;
  if (improvement.is_clear(kClearErrors)) {
    choice.why =
        fmt::format("averaging with trees improves the validation loss by {:.1f} standard errors",
                    improvement.mean / improvement.error);
  } else {
    choice.value = "0";
    choice.why = "averaging with trees does not clearly improve the validation loss";
  }
  return choice;
}

class Mixer {
 public:
  Mixer(const Problem& problem, const std::optional<Rotation>& rotation, Members members)
      : p_(problem), rotation_(rotation), members_(std::move(members)), options_(*p_.options) {}

  Mixture mix(bool is_stopped, std::vector<Choice>& choices) {
    if (options_.trees > 0) choose_trees(is_stopped, choices);
    Mixture mixture{.model = std::make_shared<ModelData>(),
                    .valid_rows = std::nullopt,
                    .options = SettledOptions(options_)};
    ModelData& model = *mixture.model;
    model.schema = p_.schema;
    model.calibrators = options_.monotone_calibrators;
    const double weight = options_.trees > 0 ? options_.tree_share.value() : 0;
    if (rotation_) mixture.valid_rows = valid_rows(weight);
    if (weight < 1) add(members_.networks, 1 - weight, model);
    if (weight > 0) add(members_.forests, weight, model);
    return mixture;
  }

 private:
  void choose_trees(bool is_stopped, std::vector<Choice>& choices) {
    Choice choice{.setting = "trees", .value = "0"};
    if (is_stopped) {
      members_.forests.clear();
    } else if (options_.tree_share == 0) {
      choice.why = "tree_share is 0";
    } else if (members_.forests.empty()) {
      choice.why = "no tree improves the validation loss";
    } else if (p_.open.mixing_weight) {
      const OutOfFoldRows networks = mean_of(members_.networks);
      choice = choose_mixing_weight({p_.schema.label, p_.train}, networks.rows, networks.outputs,
                                    mean_of(members_.forests).outputs);
      options_.tree_share = std::stod(choice.value);
      if (options_.tree_share == 0) choice.setting = "trees";
    }
    if (members_.forests.empty() || options_.tree_share == 0) {
      options_.trees = 0;
      options_.tree_share = p_.options->tree_share;
    }
    if (!choice.why.empty()) choices.push_back(std::move(choice));
  }

  // The mean of what some members predict for rows that they have not seen.
  OutOfFoldRows mean_of(const std::vector<FittedMember>& members) const {
    if (rotation_) return rotation_->mean_of(sums_of(members));
    OutOfFoldRows mean{subset_without_cells(p_.valid, rows_between(0, p_.valid.num_rows)),
                       std::vector<double>(members.front().valid_rows.size())};
    for (const FittedMember& each : members) {
      for (std::size_t i = 0; i < mean.outputs.size(); ++i) mean.outputs[i] += each.valid_rows[i];
    }
    for (double& output : mean.outputs) output /= static_cast<double>(members.size());
    return mean;
  }

  OutOfFoldSums sums_of(const std::vector<FittedMember>& members) const {
    OutOfFoldSums sums;
    for (const FittedMember& each : members) rotation_->add(each.number, each.valid_rows, sums);
    return sums;
  }

  OutOfFoldRows valid_rows(double weight) const {
    OutOfFoldSums sums = sums_of(members_.networks);
    if (weight > 0) sums.sums = mixed(sums.sums, sums_of(members_.forests).sums, weight);
    return rotation_->mean_of(sums);
  }

  // Members of one kind have some weight together. Those of a model with one kind weigh 1 each.
  void add(std::vector<FittedMember>& members, double weight, ModelData& model) const {
    for (FittedMember& each : members) {
      each.member.fitted.weight =
          weight < 1 ? static_cast<float>(weight / static_cast<double>(members.size())) : 1;
      model.members.push_back(std::move(each.member.fitted));
    }
  }

  const Problem& p_;
  const std::optional<Rotation>& rotation_;
  Members members_;
  TrainOptions options_;
};

// Shifts the offset so that the predictions of all rows add up to their labels.
void balance(const Problem& p, const std::shared_ptr<ModelData>& model, Team& team) {
  const Predictor predictor{Model(model)};
  const auto add = [&](const Dataset& rows, const RowRange& range, Balance& sums) {
    for (std::uint64_t begin = range.begin; begin < range.end; begin += kRowsAtATime) {
      const std::uint64_t end = std::min<std::uint64_t>(begin + kRowsAtATime, range.end);
      const Dataset some = subset(rows, rows_between(begin, end));
      sums.add(some, predictions(predictor, some, team.pool()));
    }
  };
  const auto of_part = [&](const RowRange& part) {
    Balance sums;
    add(p.train, part, sums);
    return sums;
  };
  Balance sums;
  const auto parts = training_parts(p.train.num_rows, p.options->batch_size, p.many_rows);
  for (const Balance& own : of_parts(parts, p.train, team.ranks(), of_part)) sums += own;
  add(p.valid, {0, p.valid.num_rows}, sums);
  sums.apply(model->schema.label);
}

// The scores of validation rows, as the label's offsets are now.
std::vector<float> held_out_scores(const Problem& p, const Mixture& mixture, Team& team) {
  if (!mixture.valid_rows) return scores(Predictor(Model(mixture.model)), p.valid, team.pool());
  const Label& label = mixture.model->schema.label;
  const auto& [rows, outputs] = *mixture.valid_rows;
  std::vector<float> all;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double offset = rows.offset(i / label.num_scores());
    all.push_back(score_of(label, i % label.num_scores(), outputs[i], offset));
  }
  return all;
}

}  // namespace

Mixture mix(const Problem& problem, const std::optional<Rotation>& rotation, Members members,
            bool is_stopped, std::vector<Choice>& choices) {
  return Mixer(problem, rotation, std::move(members)).mix(is_stopped, choices);
}

Validated fit_offsets(const Problem& p, Mixture& mixture, Team& team) {
  Label& label = mixture.model->schema.label;
  if (label.has_log_link()) balance(p, mixture.model, team);
  const Dataset& rows = mixture.valid_rows ? mixture.valid_rows->rows : p.valid;
  if (rows.num_rows == 0) return {};
  if (label.loss != Loss::quantile)
    return {all_metrics(label, rows, held_out_scores(p, mixture, team)), rows.num_rows};
  const std::vector<float> before = held_out_scores(p, mixture, team);
  const std::vector<float> cross_fitted = cross_fitted_scores(rows, before, label);
  shift_quantiles(rows, before, label);
  return {all_metrics(label, rows, cross_fitted), rows.num_rows};
}

}  // namespace espalier
