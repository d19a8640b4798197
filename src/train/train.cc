// SPDX-License-Identifier: Apache-2.0
// train(): from a table to a proven model.
#include "espalier/train.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/stopwatch.h"
#include "core/thread_pool.h"
#include "espalier/error.h"
#include "eval/judge.h"
#include "model/label_json.h"
#include "model/model_data.h"
#include "model/model_file.h"
#include "objective/fit_label.h"
#include "serve/compiled.h"
#include "train/checkpoint.h"
#include "train/crystal_search.h"
#include "train/initialize.h"
#include "train/interaction_search.h"
#include "train/interactions.h"
#include "train/prepare.h"
#include "train/rotation.h"
#include "train/settled_options.h"
#include "train/streams.h"
#include "train/train_on.h"
#include "train/trainer.h"

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

// Trains the members one after another, reports as it goes and writes checkpoints.
class Session {
 public:
  Session(const Prepared& prepared, const TrainControl& control, CheckpointFile& file,
          ThreadPool& pool, Stopwatch watch)
      : p_(prepared), control_(control), file_(file), pool_(pool), watch_(watch) {
    progress_.options = &*p_.options;
    progress_.metric = p_.options->metric;
    progress_.rows_total = rows_before(p_.options->ensemble + 1);
    model_->schema = p_.schema;
    model_->calibrators = p_.options->monotone_calibrators;
    if (p_.options->ensemble > 1 && p_.valid_is_split_off && p_.valid.num_rows > 0)
      rotation_.emplace(p_);
    if (file_.wanted()) fingerprint_ = fingerprint_of(p_.options, p_.schema, p_.train, p_.valid);
  }

  TrainResult run(std::optional<Checkpoint> checkpoint) {
    if (checkpoint) {
      require_same_run(*checkpoint);
      restore_finished(*checkpoint);
    }
    for (int m = static_cast<int>(best_.size()) + 1; m <= p_.options->ensemble; ++m) {
      if (m > 1 && control_.stop.stop_requested()) break;
      const Epoch best = train_member(m, checkpoint);
      if (best.epoch == 0) {  // stopped before it had learned anything
        model_->members.pop_back();
        break;
      }
      best_.push_back(best);
      checkpoint.reset();
    }
    if (best_.empty())
      throw Error(ErrorKind::stopped,
                  "stopped before the first epoch had ended: there is no model");
    if (p_.schema.label.has_log_link()) balance();
    require_proof(*model_);
    std::vector<MetricValue> metrics;
    if (rotation_) {
      metrics = rotation_->metrics(model_->schema.label);
    } else if (p_.valid.num_rows > 0) {
      metrics = judge(Model(model_), p_.valid, pool_);
    }
    const std::size_t valid_rows = rotation_ ? rotation_->num_judged() : p_.valid.num_rows;
    model_->training_json = training_json(p_, best_, valid_rows, metrics);
    return {.model = Model(std::move(model_)),
            .options = *p_.options,
            .metric = p_.options->metric,
            .history = std::move(history_),
            .best = std::move(best_),
            .train_rows = p_.train.num_rows,
            .valid_rows = valid_rows,
            .valid_metrics = metrics,
            .stopped = control_.stop.stop_requested(),
            .seconds = watch_.seconds(),
            .search_seconds = p_.search_seconds,
            .choices = p_.choices};
  }

 private:
  // Shifts the offset so that the predictions of all rows add up to their labels.
  void balance() {
    Balance sums;
    const Predictor predictor{Model(model_)};
    for (const Dataset* rows : {&p_.train, &p_.valid})
      sums.add(*rows, predictions(predictor, *rows, pool_));
    sums.apply(model_->schema.label);
  }

  // Rows that a search and all members before this one train on.
  std::int64_t rows_before(int member) const {
    return p_.search_rows +
           static_cast<std::int64_t>(p_.train.num_rows) * p_.options->epochs * (member - 1);
  }

  Random random_of(int member) const {
    return Random(p_.options->seed).split(kMemberStream + static_cast<std::uint64_t>(member));
  }

  Network& add_network(int member) {
    return model_->members.emplace_back(p_.architecture, input_wires(p_.schema),
                                        p_.options->monotone_calibrators,
                                        random_of(member).split(1), kMaxParameters,
                                        static_cast<int>(p_.schema.label.num_outputs()));
  }

  Epoch train_member(int member, const std::optional<Checkpoint>& checkpoint) {
    Network& network = add_network(member);
    const std::optional<Rotation::Part> part =
        rotation_ ? std::optional(rotation_->part(member)) : std::nullopt;
    const Dataset& train = part ? part->train : p_.train;
    if (checkpoint) {
      require_fits(restore(checkpoint->network, network));
    } else {
      initialize(train, p_.schema.label, p_.options, random_of(member).split(2), network);
    }
    progress_.member = member;
    progress_.last = {.member = member};
    const Objective objective(p_.schema.label, train);
    Trainer trainer({.options = &p_.options,
                     .objective = &objective,
                     .train = &train,
                     .valid = part ? &part->valid : &p_.valid,
                     .pool = &pool_,
                     .stop = control_.stop,
                     .on_progress = [&](auto rows, double loss) { after_steps(rows, loss); },
                     .on_epoch = [&](const Epoch& epoch) { after_epoch(epoch); },
                     .on_run =
                         [&] {
                           if (file_.due()) write_checkpoint(trainer);
                         },
                     .on_stop = [&] { write_checkpoint(trainer); },
                     .runs_of_one_step = file_.wants_every_step()},
                    network, random_of(member).split(3));
    if (checkpoint) resume(*checkpoint, trainer);
    Epoch best = trainer.run();
    best.member = member;
    if (rotation_ && best.epoch > 0) rotation_->judge(member, network, part->valid, pool_);
    return best;
  }

  void after_steps(std::int64_t rows, double loss) {
    progress_.rows_done = rows_before(progress_.member) + rows;
    progress_.loss = loss;
    report(false);
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
    const std::string other = difference(checkpoint.fingerprint, fingerprint_);
    if (!other.empty()) {
      throw Error(ErrorKind::argument,
                  fmt::format("{}: the checkpoint is of another run: {}", file_.path(), other));
    }
  }

  void restore_finished(const Checkpoint& checkpoint) {
    if (checkpoint.finished.size() >= static_cast<std::size_t>(p_.options->ensemble))
      require_fits("it has too many networks");
    for (const FinishedNetwork& finished : checkpoint.finished) {
      const int member = static_cast<int>(best_.size()) + 1;
      Network& network = add_network(member);
      require_fits(restore(finished.network, network));
      if (rotation_) rotation_->judge(member, network, rotation_->part(member).valid, pool_);
      best_.push_back(finished.best);
    }
    history_ = checkpoint.history;
  }

  void resume(const Checkpoint& checkpoint, Trainer& trainer) {
    require_fits(trainer.resume(checkpoint.trainer));
    if (checkpoint.trainer.epochs_done > 0 && !history_.empty()) progress_.last = history_.back();
    progress_.rows_done = rows_before(progress_.member) + trainer.rows_done();
    progress_.rows_resumed = progress_.rows_done;
    report(false);
  }

  void report(bool epoch_finished) {
    if (!control_.progress) return;
    progress_.epoch_finished = epoch_finished;
    progress_.seconds = watch_.seconds();
    control_.progress(progress_);
  }

  const Prepared& p_;
  const TrainControl& control_;
  CheckpointFile& file_;
  ThreadPool& pool_;
  Stopwatch watch_;
  Fingerprint fingerprint_;
  std::optional<Rotation> rotation_;  // of the rows that the networks of an ensemble hold out
  Progress progress_{};
  std::shared_ptr<ModelData> model_ = std::make_shared<ModelData>();
  std::vector<Epoch> best_;  // of the finished members
  std::vector<Epoch> history_;
};

}  // namespace

namespace {

// Where the options leave the choice open: what an earlier run has chosen, if this one continues it.
std::vector<std::string> wanted_interactions(const TrainOptions& options,
                                             const std::optional<Checkpoint>& checkpoint) {
  if (!checkpoint || !leaves_interactions_open(options.interactions)) return options.interactions;
  TrainOptions earlier;
  for (const auto& [name, value] : checkpoint->fingerprint.options) {
    if (name == "interactions")
      apply_json(earlier, fmt::format("{{\"{}\": {}}}", name, value), "checkpoint");
  }
  return earlier.interactions;
}

}  // namespace

TrainResult train_on(const Source& source, const TrainOptions& options,
                     const TrainControl& control) {
  CheckpointFile file(control);
  std::optional<Checkpoint> checkpoint = file.read();
  Prepared prepared = prepare(source, options, control);
  const Stopwatch watch;
  ThreadPool pool(prepared.options->threads);
  LayerSpec& first = prepared.architecture.layers.front();
  if (checkpoint && first.wiring == Wiring::crystals)
    first = parse_architecture(checkpoint->network.architecture).layers.front();
  settle_interactions(wanted_interactions(options, checkpoint), prepared, pool, control);
  settle_wiring(prepared, pool, control);
  return Session(prepared, control, file, pool, watch).run(std::move(checkpoint));
}

TrainResult train(const Table& table, const TrainOptions& options, const TrainControl& control) {
  return train_on({.table = table}, options, control);
}

TrainResult train(Table&& table, const TrainOptions& options, const TrainControl& control) {
  Table owned = std::move(table);
  return train_on({.table = owned, .owned = &owned}, options, control);
}

}  // namespace espalier
