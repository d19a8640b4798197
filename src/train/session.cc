// SPDX-License-Identifier: Apache-2.0
#include "train/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "espalier/error.h"
#include "model/label_json.h"
#include "model/model_data.h"
#include "model/model_file.h"
#include "objective/fit_label.h"
#include "objective/link.h"
#include "objective/metrics.h"
#include "objective/quantile_shift.h"
#include "serve/compiled.h"
#include "train/held_out.h"
#include "train/initialize.h"
#include "train/policy.h"
#include "train/rotation.h"
#include "train/settled_options.h"
#include "train/share.h"
#include "train/streams.h"
#include "train/trainer.h"
#include "train/trees.h"

namespace espalier {

namespace {

// How training went, without anything that differs between two equal runs.
std::string training_json(const Prepared& p, const std::vector<Epoch>& best, std::size_t valid_rows,
                          const std::vector<MetricValue>& metrics) {
  Json json = {{"options", deciding_options(p.options)},
               {"train_rows", p.train.num_rows},
               {"valid_rows", valid_rows}};
  Json epochs = Json::array();
  for (const Epoch& epoch : best) epochs.push_back(epoch.epoch);
  json["best_epochs"] = epochs;
  for (const MetricValue& metric : metrics)
    json["validation"][std::string(to_word(metric.metric))] = metric.value;
  return json.dump();
}

// No model leaves that was not checked. Every step of training projects, so a broken inequality
// would be an error in the library.
void require_proof(const ModelData& model) {
  const CulpritSink fail = [](const std::string& culprit) {
    throw Error(ErrorKind::unsupported, "the trained parameters break an inequality: " + culprit);
  };
  check_levels(model.schema.label, fail);
  for (const Network& member : model.members) check_network(member, fail, [](int, const Check&) {});
  require_finite_scores(model, [&](const std::string& why) {
    throw Error(ErrorKind::data,
                fmt::format("label '{}': its values are too large: {}; divide them "
                            "by a constant",
                            model.schema.label.name, why));
  });
}

// Whose predictions are held in memory together.
constexpr std::size_t kRowsAtATime = std::size_t{1} << 18;

// Trains the members one after another, reports as it goes and writes checkpoints.
class Session {
 public:
  Session(Prepared& prepared, const TrainControl& control, CheckpointFile& file, Team& team,
          Stopwatch watch)
      : p_(prepared), control_(control), file_(file), team_(team), watch_(watch) {
    progress_.options = &*p_.options;
    progress_.metric = p_.options->metric;
    model_->schema = p_.schema;
    model_->calibrators = p_.options->monotone_calibrators;
    if (p_.options->ensemble > 1 && p_.valid_is_split_off && p_.valid.num_rows > 0)
      rotation_.emplace(p_);
    if (file_.wanted()) fingerprint_ = fingerprint_of(p_.options, p_, team_.ranks());
  }

  TrainResult run(std::optional<Checkpoint> checkpoint) {
    if (checkpoint) {
      require_same_run(*checkpoint);
      restore_finished(*checkpoint);
    }
    for (int m = static_cast<int>(best_.size()) + 1; m <= p_.options->ensemble; ++m) {
      if (m > 1 && team_.stop_requested()) break;
      const Epoch best = train_member(m, checkpoint);
      if (best.epoch == 0) {  // stopped before it had learned anything
        model_->members.pop_back();
        break;
      }
      if (rotation_) judge(m, model_->members.back(), part_of_member(m).valid, held_out_);
      best_.push_back(best);
      checkpoint.reset();
    }
    if (best_.empty())
      throw Error(ErrorKind::stopped,
                  "stopped before the first epoch had ended: there is no model");
    const double before_trees = watch_.seconds();
    add_trees();
    tree_seconds_ = watch_.seconds() - before_trees;
    Label& label = model_->schema.label;
    if (label.has_log_link()) balance();
    std::vector<float> cross_fitted;
    if (label.loss == Loss::quantile) {
      with_held_out([&](const Dataset& rows, const auto& scores) {
        cross_fitted = cross_fitted_scores(rows, scores, label);
        shift_quantiles(rows, scores, label);
      });
    }
    require_proof(*model_);
    std::vector<MetricValue> metrics;
    std::size_t valid_rows = 0;
    with_held_out([&](const Dataset& rows, const auto& scores) {
      metrics = all_metrics(label, rows, cross_fitted.empty() ? scores : cross_fitted);
      valid_rows = rows.num_rows;
    });
    model_->training_json = training_json(p_, best_, valid_rows, metrics);
    return {.model = Model(std::move(model_)),
            .options = *p_.options,
            .metric = p_.options->metric,
            .history = std::move(history_),
            .best = std::move(best_),
            .train_rows = p_.train.num_rows,
            .valid_rows = valid_rows,
            .valid_metrics = metrics,
            .stopped = team_.stop_requested(),
            .seconds = watch_.seconds(),
            .search_seconds = p_.search_seconds,
            .tree_seconds = tree_seconds_,
            .choices = p_.choices};
  }

 private:
  // Shifts the offset so that the predictions of all rows add up to their labels.
  void balance() {
    const Predictor predictor{Model(model_)};
    const auto add = [&](const Dataset& rows, const RowRange& range, Balance& sums) {
      for (std::uint64_t begin = range.begin; begin < range.end; begin += kRowsAtATime) {
        const std::uint64_t end = std::min<std::uint64_t>(begin + kRowsAtATime, range.end);
        const Dataset some = subset(rows, rows_between(begin, end));
        sums.add(some, predictions(predictor, some, team_.pool()));
      }
    };
    const auto of_part = [&](const RowRange& part) {
      Balance sums;
      add(p_.train, part, sums);
      return sums;
    };
    Balance sums;
    const auto parts = training_parts(p_.train.num_rows, p_.options->batch_size, p_.many_rows);
    for (const Balance& own : of_parts(parts, p_.train, team_.ranks(), of_part)) sums += own;
    add(p_.valid, {0, p_.valid.num_rows}, sums);
    sums.apply(model_->schema.label);
  }

  // Visits the rows that networks held out, if there are any, with the scores that those gave them.
  template <class Visit>
  void with_held_out(const Visit& visit) {
    if (rotation_) {
      const Label& label = model_->schema.label;
      const HeldOutRows judged = rotation_->judged(held_out_);
      std::vector<float> scores;
      for (std::size_t i = 0; i < judged.outputs.size(); ++i) {
        const double offset = judged.rows.offset(i / label.num_scores());
        scores.push_back(score_of(label, i % label.num_scores(), judged.outputs[i], offset));
      }
      visit(judged.rows, scores);
    } else if (p_.valid.num_rows > 0) {
      visit(p_.valid, scores(Predictor(Model(model_)), p_.valid, team_.pool()));
    }
  }

  // Adds what a network says of rows that it has not seen.
  void judge(int member, const Network& network, const Dataset& valid, HeldOutSums& sums) {
    const std::vector<float> outputs = network_outputs(network, p_.schema.label, valid, team_);
    if (rotation_) return rotation_->judge(member, outputs, sums);
    sums.sums.resize(outputs.size());
    sums.counts.resize(valid.num_rows);
    for (std::size_t i = 0; i < outputs.size(); ++i) sums.sums[i] += outputs[i];
    for (int& count : sums.counts) ++count;
  }

  HeldOutRows judged(const HeldOutSums& sums) const {
    if (rotation_) return rotation_->judged(sums);
    HeldOutRows judged{subset_without_cells(p_.valid, rows_between(0, p_.valid.num_rows)),
                       sums.sums};
    for (double& output : judged.outputs) output /= sums.counts.front();
    return judged;
  }

  // Forests beside the networks, if held-out rows say that they are worth it.
  void add_trees() {
    if (p_.options->trees == 0) return;
    if (team_.stop_requested()) return leave_out_trees({});
    if (p_.options->tree_share == 0) return leave_out_trees("tree_share is 0");
    const auto networks = static_cast<int>(model_->members.size());
    const int forests = forests_beside(networks, p_.train.num_rows, rotation_.has_value());
    std::vector<Network> all;
    HeldOutSums of_trees, of_networks;
    for (int m = 1; m <= forests; ++m) {
      progress_.member = m;
      const std::optional<Rotation::Part> part =
          rotation_ ? std::optional(part_of_member(m)) : std::nullopt;
      const Dataset& valid = part ? part->valid : p_.valid;
      std::optional<Network> trees = grow_trees(
          p_, part ? part->train : p_.train, valid,
          Random(p_.options->seed).split(kTreeStream).split(static_cast<std::uint64_t>(m)), team_,
          [&](int grown) {
            progress_.trees = grown;
            report(false);
          });
      if (!trees) return leave_out_trees("no tree improves the validation loss");
      judge(m, *trees, valid, of_trees);
      all.push_back(*std::move(trees));
    }
    if (p_.chooses_mixing_weight) {
      if (!rotation_) {
        for (const Network& network : model_->members) judge(1, network, p_.valid, of_networks);
      }
      const HeldOutRows without = judged(rotation_ ? held_out_ : of_networks);
      const TreeShare chosen = share_of_trees({p_.schema.label, p_.train}, without.rows,
                                              without.outputs, judged(of_trees).outputs);
      if (chosen.share == 0) return leave_out_trees(chosen.why);
      set_trees(p_.options->trees, chosen.share);
      p_.choices.push_back({"tree_share", fmt::format("{}", chosen.share), chosen.why});
    }
    const double share = p_.options->tree_share;
    if (share == 1) {
      model_->members.clear();
    } else {
      // The model is the plain mean of its members.
      const double members = networks + forests;
      for (Network& network : model_->members)
        network.scale_scores(members / networks * (1 - share));
      for (Network& trees : all) trees.scale_scores(members / forests * share);
    }
    std::ranges::move(all, std::back_inserter(model_->members));
    if (rotation_) held_out_.sums = mixed(held_out_.sums, of_trees.sums, share);
  }

  void set_trees(int trees, double share) {
    TrainOptions options = *p_.options;
    options.trees = trees;
    options.tree_share = share;
    p_.options = SettledOptions(std::move(options));
  }

  void leave_out_trees(const std::string& why) {
    set_trees(0, p_.options->tree_share);
    if (!team_.stop_requested()) p_.choices.push_back({"trees", "0", why});
  }

  // Rows that a search and the finished members were trained on.
  std::int64_t rows_before() const {
    std::int64_t epochs = 0;
    for (const Epoch& epoch : history_) {
      const bool is_finished = epoch.member <= static_cast<int>(best_.size());
      const bool is_last = &epoch == &history_.back() || (&epoch)[1].member != epoch.member;
      if (is_finished && is_last) epochs += epoch.epoch;
    }
    return p_.search_rows + epochs * static_cast<std::int64_t>(p_.train.num_rows);
  }

  Rotation::Part part_of_member(int member) { return rotation_->part(member, team_.ranks()); }

  Random random_of(int member) const {
    return Random(p_.options->seed).split(kMemberStream + static_cast<std::uint64_t>(member));
  }

  Network& add_network(int member) {
    return model_->members.emplace_back(
        p_.architecture, input_wires(p_.schema), p_.options->monotone_calibrators,
        random_of(member).split(1), BuildLimits(), score_wires(p_.schema.label));
  }

  Epoch train_member(int member, const std::optional<Checkpoint>& checkpoint) {
    Network& network = add_network(member);
    const std::optional<Rotation::Part> part =
        rotation_ ? std::optional(part_of_member(member)) : std::nullopt;
    const Dataset& train = part ? part->train : p_.train;
    if (checkpoint) {
      require_fits(restore(checkpoint->network, network));
    } else {
      initialize(train, p_.schema.label, p_.options, random_of(member).split(2), network,
                 team_.ranks());
    }
    progress_.member = member;
    progress_.last = {.member = member};
    const Objective objective(p_.schema.label, train);
    Trainer trainer({.options = &p_.options,
                     .objective = &objective,
                     .train = &train,
                     .valid = part ? &part->valid : &p_.valid,
                     .team = &team_,
                     .on_progress =
                         [&](auto rows, double loss) {
                           count_rows(rows, trainer);
                           progress_.loss = loss;
                           report(false);
                         },
                     .on_epoch = [&](const Epoch& epoch) { after_epoch(epoch); },
                     .on_run =
                         [&] {
                           if (file_.due()) write_checkpoint(trainer);
                         },
                     .on_stop = [&] { write_checkpoint(trainer); },
                     .runs_of_one_step = file_.wants_every_step(),
                     .many_rows = p_.many_rows},
                    network, random_of(member).split(3));
    if (checkpoint) resume(*checkpoint, trainer);
    Epoch best = trainer.run();
    best.member = member;
    // What comes after the steps begins again after a kill, not the steps.
    if (p_.options->trees > 0 && trainer.is_over()) write_checkpoint(trainer);
    return best;
  }

  // The members to come are taken to be trained for as long as this one.
  void count_rows(std::int64_t rows, const Trainer& trainer) {
    const std::int64_t before = rows_before();
    const int members = p_.options->ensemble - progress_.member + 1;
    progress_.rows_done = before + rows;
    progress_.rows_total = before + trainer.expected_rows() * members;
  }

  void after_epoch(Epoch epoch) {
    epoch.member = progress_.member;
    history_.push_back(epoch);
    progress_.last = epoch;
    progress_.loss = epoch.train_loss;
    report(true);
  }

  // A search that was stopped found other wires than a whole one would: there is nothing to resume.
  void write_checkpoint(const Trainer& trainer) {
    if (!file_.wanted() || p_.search_stopped) return;
    Checkpoint checkpoint{.fingerprint = fingerprint_,
                          .network = state_of(model_->members.back()),
                          .trainer = trainer.state(),
                          .history = history_};
    for (std::size_t m = 0; m < best_.size(); ++m)
      checkpoint.finished.push_back({state_of(model_->members[m]), best_[m]});
    file_.write(checkpoint);
  }

  void require_fits(const std::string& problem) const {
    if (problem.empty()) return;
    throw Error(ErrorKind::format,
                fmt::format("{}: not a usable checkpoint: {}", file_.path(), problem));
  }

  void require_same_run(const Checkpoint& checkpoint) const {
    file_.require_no(difference(checkpoint.fingerprint, fingerprint_));
  }

  void restore_finished(const Checkpoint& checkpoint) {
    if (checkpoint.finished.size() >= static_cast<std::size_t>(p_.options->ensemble))
      require_fits("it has too many networks");
    for (const FinishedNetwork& finished : checkpoint.finished) {
      const int member = static_cast<int>(best_.size()) + 1;
      Network& network = add_network(member);
      require_fits(restore(finished.network, network));
      if (rotation_) judge(member, network, part_of_member(member).valid, held_out_);
      best_.push_back(finished.best);
    }
    history_ = checkpoint.history;
  }

  void resume(const Checkpoint& checkpoint, Trainer& trainer) {
    require_fits(trainer.resume(checkpoint.trainer));
    if (!history_.empty() && history_.back().member == progress_.member)
      progress_.last = history_.back();
    count_rows(trainer.rows_done(), trainer);
    progress_.rows_resumed = progress_.rows_done;
    report(false);
  }

  void report(bool epoch_finished) {
    if (!control_.progress) return;
    progress_.epoch_finished = epoch_finished;
    progress_.seconds = watch_.seconds();
    control_.progress(progress_);
  }

  Prepared& p_;  // of which the trees may still change
  const TrainControl& control_;
  CheckpointFile& file_;
  Team& team_;
  Stopwatch watch_;
  Fingerprint fingerprint_;
  std::optional<Rotation> rotation_;  // of the rows that the networks of an ensemble hold out
  HeldOutSums held_out_;              // with it, what they say of them
  Progress progress_{};
  std::shared_ptr<ModelData> model_ = std::make_shared<ModelData>();
  double tree_seconds_ = 0;
  std::vector<Epoch> best_;  // of the finished members
  std::vector<Epoch> history_;
};

}  // namespace

TrainResult train_members(Prepared& prepared, const TrainControl& control, CheckpointFile& file,
                          Team& team, const Stopwatch& watch,
                          std::optional<Checkpoint> checkpoint) {
  return Session(prepared, control, file, team, watch).run(std::move(checkpoint));
}

}  // namespace espalier
