// SPDX-License-Identifier: Apache-2.0
#include "train/settled_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <type_traits>

#include "core/random.h"
#include "espalier/simulate.h"
#include "espalier/train.h"
#include "support/bytes_without_choices.h"
#include "support/effort.h"
#include "support/error_of.h"
#include "train/presets.h"

namespace espalier {
namespace {

// The numbers of training rows at which a choice changes.
constexpr std::int64_t kThresholds[] = {1000, 5000, 10000, 15000, 20000, 50000, 200'000};
constexpr std::int64_t kLargestTrained = 50000;  // of these thresholds: others take too long

std::vector<Feature> features(int count) {
  std::vector<Feature> made;
  for (int f = 0; f < count; ++f) made.push_back({.name = "x" + std::to_string(f)});
  return made;
}

Label label_of(Task task) {
  if (task == Task::regression) return {};
  return {.loss = Loss::log_loss, .classes = {"no", "yes"}};
}

SettledOptions settled(TrainOptions options, std::size_t rows, Task task = Task::classification) {
  return settle(std::move(options), label_of(task), features(6), rows);
}

// So many that four fifths of them, the share that is trained on, are `train_rows`.
Table loans_to_train_on(std::int64_t train_rows) {
  return simulate({.rows = (train_rows * 5 + 3) / 4});
}

TrainOptions options_of(const std::string& architecture) {
  return {.label = "default",
          .increasing = {"debt_ratio"},
          .decreasing = {"income"},
          .architecture = architecture,
          .epochs = 1};
}

TrainOptions recorded_in(const Model& model) {
  TrainOptions options;
  apply_json(options, Json::parse(model.training_json()).at("options").dump(), "model");
  return options;
}

// The law: training with the options that a model records gives the same bytes.
void expect_law(const Table& table, const TrainOptions& options) {
  const TrainResult first = train(table, options);
  const TrainOptions recorded = recorded_in(first.model);
  EXPECT_TRUE(bytes_without_choices(train(table, recorded).model) ==
              bytes_without_choices(first.model))
      << first.train_rows << " rows, " << options.architecture << ": " << to_json(recorded);
}

void expect_law_around(std::int64_t threshold, const std::string& architecture) {
  for (const std::int64_t rows : {threshold - 1, threshold}) {
    const Table table = loans_to_train_on(rows);
    EXPECT_EQ(train(table, {.label = "default", .architecture = "lin(1)", .epochs = 1}).train_rows,
              static_cast<std::size_t>(rows));
    expect_law(table, options_of(architecture));
  }
}

TEST(SettledOptions, AreNotMadeOfOptionsByAccident) {
  static_assert(!std::is_convertible_v<TrainOptions, SettledOptions>);
  EXPECT_THAT(error_of([] { SettledOptions(TrainOptions{}); }),
              testing::HasSubstr("nothing was chosen"));
}

TEST(SettledOptions, NoFieldThatIsLeftOpenIsAccepted) {
  const TrainOptions whole = *settled({}, 3000);
  int open = 0;
  TrainOptions changed = whole;
  const auto expect_refused = [&](auto& value, auto chooses) {
    const auto kept = value;
    value = chooses;
    EXPECT_NE(error_of([&] { SettledOptions{changed}; }), "no error");
    value = kept;
    ++open;
  };
  visit_fields(changed, [&](const Field&, auto& value) {
    using Value = std::remove_reference_t<decltype(value)>;
    if constexpr (std::is_enum_v<Value>) {
      if (const auto automatic = from_word<Value>("auto")) expect_refused(value, *automatic);
    } else if constexpr (is_auto<Value>) {
      expect_refused(value, Value());
    }
  });
  EXPECT_EQ(open, 19);
  EXPECT_NO_THROW(SettledOptions{changed});
}

TEST(SettledOptions, SettlingTwiceChangesNothing) {
  std::vector<std::string> architectures = preset_names();
  for (const char* layers : {"cal(30) lin(1)", "cal(9,-1:1) lin(1)", "lin(1)", "dln(5x3)"})
    architectures.emplace_back(layers);
  for (const std::string& architecture : architectures) {
    for (const std::int64_t threshold : kThresholds) {
      for (const auto rows : {threshold - 1, threshold}) {
        for (const Task task : {Task::classification, Task::regression}) {
          const auto n = static_cast<std::size_t>(rows);
          const SettledOptions once = settled({.architecture = architecture}, n, task);
          for (const std::size_t others : {n, std::size_t{10}, std::size_t{1000000}})
            EXPECT_EQ(to_json(*settled(*once, others, task)), to_json(*once)) << architecture;
        }
      }
    }
  }
}

TEST(SettledOptions, WhatIsSetStays) {
  const TrainOptions set = {.architecture = "dln",
                            .keypoints = Keypoints::uniform,
                            .continuous_keypoints = 7,
                            .ensemble = 2,
                            .epochs = 3,
                            .batch_size = 48,
                            .learning_rate = 0.5,
                            .weight_decay = 0,
                            .calibrator_hessian = 0,
                            .metric = Metric::auc};
  const SettledOptions options = settled(set, 100);
  EXPECT_EQ(options->keypoints, Keypoints::uniform);
  EXPECT_EQ(options->continuous_keypoints, 7);
  EXPECT_EQ(options->ensemble, 2);
  EXPECT_EQ(options->epochs, 3);
  EXPECT_EQ(options->batch_size, 48);
  EXPECT_EQ(options->learning_rate, 0.5);
  EXPECT_EQ(options->weight_decay, 0);
  EXPECT_EQ(options->calibrator_hessian, 0);
  EXPECT_EQ(options->metric, Metric::auc);
}

TEST(SettledOptions, TaskAndMetricAreThoseOfTheLabel) {
  EXPECT_EQ(settled({}, 100)->metric, Metric::log_loss);
  EXPECT_EQ(settled({}, 100, Task::regression)->metric, Metric::mse);
  EXPECT_EQ(settled({}, 100, Task::regression)->task, Task::regression);
}

TEST(RecordedOptions, TrainTheSameModelOnBothSidesOfEveryThreshold) {
  // Sanitizers see nothing new in a table only because it is larger.
  for (const std::int64_t threshold : kThresholds) {
    if (threshold <= effort<std::int64_t>(kLargestTrained, 1000))
      expect_law_around(threshold, "dln(6x3)");
  }
}

TEST(RecordedOptions, TrainTheSameModelForEveryPresetAndForLayers) {
  const Table table = loans_to_train_on(400);
  for (const std::string& preset : preset_names()) expect_law(table, options_of(preset));
  for (const char* layers : {"cal(30) lin(4) cal(5) lat(2x2) lin(1)", "cal(9,-1:1) lin(1)",
                             "lin(6) minmax(3x2)", "gather(4x3,crystals) cal(5) lat(4x3) sum"})
    expect_law(table, options_of(layers));
}

TEST(RecordedOptions, TrainTheSameModelWhateverElseIsAsked) {
  const Table table = loans_to_train_on(effort(900, 300));
  const std::function<void(TrainOptions&)> changes[] = {
      [](TrainOptions& o) { o.weight = "loan_amount"; },
      [](TrainOptions& o) { o.class_weight = ClassWeight::balanced; },
      [](TrainOptions& o) { o.positive = "no"; },
      [](TrainOptions& o) { o.label = "income", o.decreasing = {}; },  // regression
      [](TrainOptions& o) { o.valid_fraction = 0; },
      [](TrainOptions& o) { o.metric = Metric::auc, o.ensemble = 2; },
      [](TrainOptions& o) { o.keypoints = Keypoints::quantile, o.seed = 7; },
      [](TrainOptions& o) { o.learning_rate = 1.0 / 3, o.lattice_noise = 0.1; }};
  for (const auto& change : changes) {
    TrainOptions options = options_of(effort("dln", "dln(4x2)"));
    change(options);
    expect_law(table, options);
  }
}

TEST(LongRecordedOptions, TrainTheSameModelForEveryPresetAroundEveryThreshold) {
  for (const std::string& preset : preset_names()) {
    for (const std::int64_t threshold : kThresholds) {
      if (threshold <= kLargestTrained) expect_law_around(threshold, preset);
    }
  }
}

}  // namespace
}  // namespace espalier
