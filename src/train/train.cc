// SPDX-License-Identifier: Apache-2.0
// train(): from a table to a proven model.
#include "espalier/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/thread_pool.h"
#include "data/encode.h"
#include "data/schema_builder.h"
#include "espalier/error.h"
#include "espalier/predictor.h"
#include "eval/judge.h"
#include "model/model_data.h"
#include "model/model_file.h"
#include "train/initialize.h"
#include "train/presets.h"
#include "train/trainer.h"

namespace espalier {

namespace {

// Streams of random numbers, so that one choice does not shift another.
enum Stream : std::uint64_t { kSplitStream = 1, kMemberStream = 1000 };

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

Prepared prepare(const Table& table, const TrainOptions& options, const TrainControl& control) {
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
  p.train = encode(p.schema, table, train_rows);
  p.valid = encode(p.schema, control.valid == nullptr ? table : *control.valid, valid_rows);
  require_both_classes(p.train, p.schema, "training");
  if (balanced) balance_classes(p.train);
  fit_label(p.train, p.schema.label);
  return p;
}

// How training went, without anything that differs between two equal runs.
std::string training_json(const Prepared& p, const std::vector<Epoch>& best,
                          const std::vector<MetricValue>& metrics) {
  using Json = nlohmann::ordered_json;
  Json options = Json::parse(to_json(p.options));
  options.erase("threads");
  Json json = {
      {"options", options}, {"train_rows", p.train.num_rows}, {"valid_rows", p.valid.num_rows}};
  Json epochs = Json::array();
  for (const Epoch& epoch : best) epochs.push_back(epoch.epoch);
  json["best_epochs"] = epochs;
  for (const MetricValue& metric : metrics)
    json["validation"][std::string(to_word(metric.metric))] = metric.value;
  return json.dump();
}

// No model leaves that was not checked, or that no predictor could serve. Every step of training
// projects, so a broken inequality would be an error in the library.
void require_proof(const Model& model) {
  for (const Network& member : model.data().members) {
    check_network(
        member,
        [](const std::string& culprit) {
          throw Error(ErrorKind::unsupported,
                      "the trained parameters break an inequality: " + culprit);
        },
        [](int, const Check&) {});
  }
  const Predictor predictor(model);
}

// Trains the members one after another and reports as it goes.
class Session {
 public:
  Session(const Prepared& prepared, const TrainControl& control)
      : p_(prepared), control_(control), pool_(prepared.options.threads), start_(Clock::now()) {
    progress_.options = &p_.options;
    progress_.metric = p_.metric;
    progress_.rows_total =
        static_cast<std::int64_t>(p_.train.num_rows) * p_.options.epochs * p_.options.ensemble;
  }

  TrainResult run() {
    auto model = std::make_shared<ModelData>();
    model->schema = p_.schema;
    model->calibrators = p_.options.monotone_calibrators;
    std::vector<Epoch> best;
    for (int m = 1; m <= p_.options.ensemble; ++m) {
      if (m > 1 && control_.stop.stop_requested()) break;
      best.push_back(train_member(m, *model));
    }
    require_proof(Model(model));
    std::vector<MetricValue> metrics;
    if (p_.valid.num_rows > 0) metrics = judge(Model(model), p_.valid, pool_);
    model->training_json = training_json(p_, best, metrics);
    return {.model = Model(std::move(model)),
            .options = p_.options,
            .metric = p_.metric,
            .history = std::move(history_),
            .best = std::move(best),
            .train_rows = p_.train.num_rows,
            .valid_rows = p_.valid.num_rows,
            .valid_metrics = metrics,
            .stopped = control_.stop.stop_requested(),
            .seconds = seconds_since(start_)};
  }

 private:
  Epoch train_member(int member, ModelData& model) {
    const Random random =
        Random(p_.options.seed).split(kMemberStream + static_cast<std::uint64_t>(member));
    Network& network = model.members.emplace_back(p_.architecture, input_wires(p_.schema),
                                                  p_.options.monotone_calibrators, random.split(1));
    initialize(p_.train, p_.options, random.split(2), network);
    const std::int64_t rows_before =
        static_cast<std::int64_t>(p_.train.num_rows) * p_.options.epochs * (member - 1);
    progress_.member = member;
    progress_.last = {.member = member};
    Trainer trainer({.options = &p_.options,
                     .label = &p_.schema.label,
                     .metric = p_.metric,
                     .train = &p_.train,
                     .valid = &p_.valid,
                     .pool = &pool_,
                     .stop = control_.stop,
                     .on_progress =
                         [&](std::int64_t rows, double loss) {
                           progress_.rows_done = rows_before + rows;
                           progress_.loss = loss;
                           report(false);
                         },
                     .on_epoch =
                         [&](Epoch epoch) {
                           epoch.member = member;
                           history_.push_back(epoch);
                           progress_.last = epoch;
                           progress_.loss = epoch.train_loss;
                           report(true);
                         }},
                    network, random.split(3));
    Epoch best = trainer.run();
    best.member = member;
    return best;
  }

  void report(bool epoch_finished) {
    if (!control_.progress) return;
    progress_.epoch_finished = epoch_finished;
    progress_.seconds = seconds_since(start_);
    control_.progress(progress_);
  }

  const Prepared& p_;
  const TrainControl& control_;
  ThreadPool pool_;
  Clock::time_point start_;
  Progress progress_{};
  std::vector<Epoch> history_;
};

}  // namespace

TrainResult train(const Table& table, const TrainOptions& options, const TrainControl& control) {
  const Prepared prepared = prepare(table, options, control);
  return Session(prepared, control).run();
}

}  // namespace espalier
