// SPDX-License-Identifier: Apache-2.0
// train(): from a table to a proven model.
#include "espalier/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "core/thread_pool.h"
#include "data/encode.h"
#include "data/schema_builder.h"
#include "espalier/error.h"
#include "eval/judge.h"
#include "model/model_data.h"
#include "model/model_file.h"
#include "train/checkpoint.h"
#include "train/crystals.h"
#include "train/initialize.h"
#include "train/presets.h"
#include "train/trainer.h"

namespace espalier {

namespace {

// Streams of random numbers, so that one choice does not shift another.
enum Stream : std::uint64_t { kSplitStream = 1, kSearchStream = 2, kMemberStream = 1000 };

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What is trained on: the settled options, the schema, and both sets of rows.
struct Prepared {
  TrainOptions options;
  Metric metric;
  Architecture architecture;
  Schema schema;
  Dataset train;
  Dataset valid;
  double search_seconds = 0;
};

void warn(const TrainControl& control, const std::string& message) {
  if (control.warning) control.warning(message);
}

Metric choose_metric(Metric wanted, Task task) {
  if (wanted == Metric::automatic)
    return task == Task::classification ? Metric::log_loss : Metric::mse;
  const auto suitable = metrics_of(task);
  if (std::find(suitable.begin(), suitable.end(), wanted) != suitable.end()) return wanted;
  throw Error(ErrorKind::argument,
              fmt::format("metric: {} does not suit {}", to_word(wanted), to_word(task)));
}

// Takes the validation rows out of `rows`; both stay in the order of the table.
Rows split_off(double fraction, Random random, Rows& rows) {
  const auto count =
      static_cast<std::size_t>(std::lround(fraction * static_cast<double>(rows.size())));
  Rows shuffled = rows;
  random.shuffle(std::span<std::uint32_t>(shuffled));
  Rows held_out(shuffled.begin(), shuffled.begin() + static_cast<std::ptrdiff_t>(count));
  rows.assign(shuffled.begin() + static_cast<std::ptrdiff_t>(count), shuffled.end());
  std::sort(held_out.begin(), held_out.end());
  std::sort(rows.begin(), rows.end());
  return held_out;
}

Rows usable_rows(const Label& label, const Table& table, const TrainControl& control) {
  Rows rows = labelled_rows(label, table);
  if (rows.size() < table.num_rows) {
    warn(control, fmt::format("{}: {} rows without a label are left out", table.name,
                              table.num_rows - rows.size()));
  }
  return rows;
}

void require_both_classes(const Dataset& data, const Schema& schema, std::string_view which) {
  if (schema.label.task != Task::classification || data.num_rows == 0) return;
  const auto [least, most] = std::minmax_element(data.labels.begin(), data.labels.end());
  if (*least != *most) return;
  throw Error(ErrorKind::data,
              fmt::format("the {} {} rows have one class only, '{}'", data.num_rows, which,
                          *most > 0 ? schema.label.positive : schema.label.negative));
}

// Scales the weights so that both classes weigh the same and the total stays.
void balance_classes(Dataset& data) {
  double totals[2] = {0, 0};
  for (std::size_t i = 0; i < data.num_rows; ++i) totals[data.labels[i] > 0] += data.weight(i);
  std::vector<float> balanced(data.num_rows);
  for (std::size_t i = 0; i < data.num_rows; ++i) {
    const double own = totals[data.labels[i] > 0];
    balanced[i] = static_cast<float>(data.weight(i) * (totals[0] + totals[1]) / (2 * own));
  }
  data.weights = std::move(balanced);
}

// The training rows and the validation rows as the network reads them. A table that is `owned` is
// empty afterwards.
void encode_rows(const Table& table, Table* owned, const Table* valid, const Rows& train_rows,
                 const Rows& valid_rows, Prepared& p) {
  if (owned == nullptr) {
    p.train = encode(p.schema, table, train_rows);
    p.valid = encode(p.schema, valid == nullptr ? table : *valid, valid_rows);
    return;
  }
  const Rows none;
  std::vector<Dataset> encoded = encode_and_free(
      p.schema, std::move(*owned), {&train_rows, valid == nullptr ? &valid_rows : &none});
  p.train = std::move(encoded[0]);
  p.valid = valid == nullptr ? std::move(encoded[1]) : encode(p.schema, *valid, valid_rows);
}

// `owned` is the table if it need not be kept, else null.
Prepared prepare(const Table& table, Table* owned, const TrainOptions& options,
                 const TrainControl& control) {
  validate(options);
  Prepared p{.options = options};
  p.schema.label = build_label(table, options);
  p.schema.weight = options.weight;
  p.metric = choose_metric(options.metric, p.schema.label.task);
  const bool balanced = options.class_weight == ClassWeight::balanced;
  if (balanced && p.schema.label.task == Task::regression) {
    throw Error(ErrorKind::argument, "class_weight: balanced does not suit regression");
  }
  Rows train_rows = usable_rows(p.schema.label, table, control);
  Rows valid_rows;
  if (control.valid == nullptr) {
    valid_rows =
        split_off(options.valid_fraction, Random(options.seed).split(kSplitStream), train_rows);
  } else {
    valid_rows = usable_rows(p.schema.label, *control.valid, control);
  }
  p.schema.features =
      build_features(table, options, train_rows, [&](const std::string& m) { warn(control, m); });
  resolve_options(train_rows.size(), p.schema.features, p.options);
  p.architecture = parse_architecture(p.options.architecture);
  // Without calibrators a number enters as its place between the ends of its range.
  KeypointPlan plan = {.mode = Keypoints::uniform, .count = 2, .learn_missing = false};
  if (const auto layer = input_calibrators(p.architecture)) {
    plan = {.mode = options.keypoints,
            .count = layer->keypoints,
            .continuous_count = p.options.continuous_keypoints,
            .range = layer->range,
            .learn_missing = true};
  }
  fit_keypoints(plan, table, train_rows, p.schema.features);
  encode_rows(table, owned, control.valid, train_rows, valid_rows, p);
  require_both_classes(p.train, p.schema, "training");
  if (balanced) balance_classes(p.train);
  fit_label(p.train, p.schema.label);
  return p;
}

// The groups of features that a network over all pairs of them suggests. It is trained on the
// training rows alone, a quarter of the epochs.
std::vector<Group> search_groups(const Prepared& p, const LayerSpec& wanted, int keypoints,
                                 ThreadPool& pool, const TrainControl& control) {
  Random random = Random(p.options.seed).split(kSearchStream);
  const std::vector<Group> groups =
      cover_pairs(static_cast<int>(p.schema.features.size()), wanted.group_size, random);
  LayerSpec gather{.kind = LayerKind::gather};
  for (const Group& group : groups)
    gather.wires.insert(gather.wires.end(), group.begin(), group.end());
  const Architecture architecture = {{gather,
                                      {.kind = LayerKind::cal, .keypoints = keypoints},
                                      {.kind = LayerKind::lat,
                                       .groups = static_cast<int>(groups.size()),
                                       .group_size = wanted.group_size},
                                      {.kind = LayerKind::sum}}};
  Network network(architecture, input_wires(p.schema), p.options.monotone_calibrators,
                  random.split(1));
  TrainOptions options = p.options;
  options.epochs = (options.epochs + 3) / 4;
  initialize(p.train, options, random.split(2), network);
  const Dataset no_rows;
  Trainer({.options = &options,
           .label = &p.schema.label,
           .metric = p.metric,
           .train = &p.train,
           .valid = &no_rows,
           .pool = &pool,
           .stop = control.stop,
           .on_progress = [](auto, double) {},
           .on_epoch = [](const Epoch&) {},
           .on_step = [] {},
           .on_stop = [] {}},
          network, random.split(3))
      .run();
  constexpr int kLattices = 2;  // the third layer
  const Layer& lattices = network.layer(kLattices);
  Interactions interactions(static_cast<int>(p.schema.features.size()));
  for (int g = 0; g < lattices.num_units(); ++g) {
    const float* theta = network.layer_params(kLattices) + lattices.unit_begin(g);
    interactions.add(groups[static_cast<std::size_t>(g)],
                     {theta, lattices.unit_begin(g + 1) - lattices.unit_begin(g)});
  }
  return crystallize(interactions, wanted.groups, wanted.group_size);
}

// Lists the wires of a first layer gather(GxS,crystals).
void settle_wiring(Prepared& p, ThreadPool& pool, const TrainControl& control) {
  LayerSpec& first = p.architecture.layers.front();
  if (first.wiring != Wiring::crystals) return;
  const Clock::time_point start = Clock::now();
  const auto features = static_cast<std::int64_t>(p.schema.features.size());
  const std::int64_t places = static_cast<std::int64_t>(first.groups) * first.group_size;
  if (first.group_size < 2 || first.group_size > features || places < features ||
      places > kMaxWires) {
    throw Error(ErrorKind::argument,
                fmt::format("architecture: {}: wanted lattices of 2 to {} features with a place "
                            "for each of the {}",
                            to_string(first), features, features));
  }
  const auto calibrators = input_calibrators(p.architecture);
  const int keypoints = calibrators ? calibrators->keypoints : 2;
  LayerSpec settled{.kind = LayerKind::gather};
  for (const Group& group : search_groups(p, first, keypoints, pool, control))
    settled.wires.insert(settled.wires.end(), group.begin(), group.end());
  first = settled;
  p.search_seconds = seconds_since(start);
}

// How training went, without anything that differs between two equal runs.
std::string training_json(const Prepared& p, const std::vector<Epoch>& best,
                          const std::vector<MetricValue>& metrics) {
  Json json = {{"options", deciding_options(p.options)},
               {"train_rows", p.train.num_rows},
               {"valid_rows", p.valid.num_rows}};
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
  for (const Network& member : model.members) {
    check_network(
        member,
        [](const std::string& culprit) {
          throw Error(ErrorKind::unsupported,
                      "the trained parameters break an inequality: " + culprit);
        },
        [](int, const Check&) {});
  }
}

// Trains the members one after another, reports as it goes and writes checkpoints.
class Session {
 public:
  Session(const Prepared& prepared, const TrainControl& control, CheckpointFile& file,
          ThreadPool& pool, Clock::time_point start)
      : p_(prepared), control_(control), file_(file), pool_(pool), start_(start) {
    progress_.options = &p_.options;
    progress_.metric = p_.metric;
    progress_.rows_total = rows_before(p_.options.ensemble + 1);
    model_->schema = p_.schema;
    model_->calibrators = p_.options.monotone_calibrators;
    if (file_.wanted()) fingerprint_ = fingerprint_of(p_.options, p_.schema, p_.train, p_.valid);
  }

  TrainResult run(std::optional<Checkpoint> checkpoint) {
    if (checkpoint) {
      require_same_run(*checkpoint);
      restore_finished(*checkpoint);
    }
    for (int m = static_cast<int>(best_.size()) + 1; m <= p_.options.ensemble; ++m) {
      if (m > 1 && control_.stop.stop_requested()) break;
      best_.push_back(train_member(m, checkpoint));
      checkpoint.reset();
    }
    require_proof(*model_);
    std::vector<MetricValue> metrics;
    if (p_.valid.num_rows > 0) metrics = judge(Model(model_), p_.valid, pool_);
    model_->training_json = training_json(p_, best_, metrics);
    return {.model = Model(std::move(model_)),
            .options = p_.options,
            .metric = p_.metric,
            .history = std::move(history_),
            .best = std::move(best_),
            .train_rows = p_.train.num_rows,
            .valid_rows = p_.valid.num_rows,
            .valid_metrics = metrics,
            .stopped = control_.stop.stop_requested(),
            .seconds = seconds_since(start_),
            .search_seconds = p_.search_seconds};
  }

 private:
  // Rows that all members before this one train on.
  std::int64_t rows_before(int member) const {
    return static_cast<std::int64_t>(p_.train.num_rows) * p_.options.epochs * (member - 1);
  }

  Random random_of(int member) const {
    return Random(p_.options.seed).split(kMemberStream + static_cast<std::uint64_t>(member));
  }

  Network& add_network(int member) {
    return model_->members.emplace_back(p_.architecture, input_wires(p_.schema),
                                        p_.options.monotone_calibrators,
                                        random_of(member).split(1));
  }

  Epoch train_member(int member, const std::optional<Checkpoint>& checkpoint) {
    Network& network = add_network(member);
    if (checkpoint) {
      require_fits(restore(checkpoint->network, network));
    } else {
      initialize(p_.train, p_.options, random_of(member).split(2), network);
    }
    progress_.member = member;
    progress_.last = {.member = member};
    Trainer trainer({.options = &p_.options,
                     .label = &p_.schema.label,
                     .metric = p_.metric,
                     .train = &p_.train,
                     .valid = &p_.valid,
                     .pool = &pool_,
                     .stop = control_.stop,
                     .on_progress = [&](auto rows, double loss) { after_steps(rows, loss); },
                     .on_epoch = [&](const Epoch& epoch) { after_epoch(epoch); },
                     .on_step =
                         [&] {
                           if (file_.due()) write_checkpoint(trainer);
                         },
                     .on_stop = [&] { write_checkpoint(trainer); }},
                    network, random_of(member).split(3));
    if (checkpoint) resume(*checkpoint, trainer);
    Epoch best = trainer.run();
    best.member = member;
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

  void write_checkpoint(const Trainer& trainer) {
    if (!file_.wanted()) return;
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
    if (checkpoint.finished.size() >= static_cast<std::size_t>(p_.options.ensemble))
      require_fits("it has too many networks");
    for (const FinishedNetwork& finished : checkpoint.finished) {
      require_fits(restore(finished.network, add_network(static_cast<int>(best_.size()) + 1)));
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
    progress_.seconds = seconds_since(start_);
    control_.progress(progress_);
  }

  const Prepared& p_;
  const TrainControl& control_;
  CheckpointFile& file_;
  ThreadPool& pool_;
  Clock::time_point start_;
  Fingerprint fingerprint_;
  Progress progress_{};
  std::shared_ptr<ModelData> model_ = std::make_shared<ModelData>();
  std::vector<Epoch> best_;  // of the finished members
  std::vector<Epoch> history_;
};

TrainResult train_on(const Table& table, Table* owned, const TrainOptions& options,
                     const TrainControl& control) {
  CheckpointFile file(control);
  std::optional<Checkpoint> checkpoint = file.read();
  Prepared prepared = prepare(table, owned, options, control);
  const Clock::time_point start = Clock::now();
  ThreadPool pool(prepared.options.threads);
  settle_wiring(prepared, pool, control);
  return Session(prepared, control, file, pool, start).run(std::move(checkpoint));
}

}  // namespace

TrainResult train(const Table& table, const TrainOptions& options, const TrainControl& control) {
  return train_on(table, nullptr, options, control);
}

TrainResult train(Table&& table, const TrainOptions& options, const TrainControl& control) {
  Table owned = std::move(table);
  return train_on(owned, &owned, options, control);
}

}  // namespace espalier
