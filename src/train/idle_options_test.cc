// SPDX-License-Identifier: Apache-2.0
#include "train/idle_options.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/random.h"
#include "encode/dataset.h"
#include "espalier/json.h"
#include "espalier/text.h"
#include "espalier/train.h"
#include "support/effort.h"

namespace espalier {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Table rows_of_steps(std::size_t rows, bool has_categories, bool has_classes) {
  Random random(7);
  Table table{.name = "steps", .num_rows = rows};
  for (const char* name : {"x", "free", "y"}) table.columns.push_back({.name = name});
  Column words{.name = "word", .type = ColumnType::category, .categories = {"a", "b", "c", "d"}};
  for (std::size_t r = 0; r < rows; ++r) {
    const auto draw = [&] { return std::floor(40 * std::pow(random.uniform(), 2)) / 40; };
    const double x = draw(), free = draw();
    const auto code = static_cast<std::int32_t>(random.below(4));
    const double y = x + (free > 0.2 && free < 0.5 ? 2 : 0) + 0.3 * code + 0.1 * random.normal();
    const double cells[] = {x, free, has_classes ? (y > 1 ? 1 : 0) : y};
    for (std::size_t c = 0; c < 3; ++c)
      table.columns[c].numbers.push_back(static_cast<float>(cells[c]));
    words.codes.push_back(code);
  }
  if (has_categories) table.columns.push_back(std::move(words));
  return table;
}

// What a training is, but for one option.
struct Context {
  TrainOptions options;
  bool has_categories;
  bool has_classes;
  bool has_valid;
};

Context random_context(Random& random) {
  const char* const architectures[] = {
      "dln(3x3)",      "calibrated-linear",  "calibrated-lattice", "random-lattices(3x2)",
      "min-max(3x2)",  "monotonic-dnn(1x4)", "cal(6,0:1) lin(1)",  "lin(3) relu lin(1)",
      "dln-paper(3x2)"};
  Context context{.options = {.label = "y",
                              .increasing = {"x"},
                              .interactions = {"none"},
                              .ensemble = 1,
                              .trees = 0,
                              .epochs = 6,
                              .learning_rate = 0.1},
                  .has_categories = random.below(2) == 0,
                  .has_classes = random.below(2) == 0,
                  .has_valid = random.below(3) == 0};
  context.options.architecture = architectures[random.below(std::size(architectures))];
  if (random.below(2) == 0) {
    context.options.trees = 5;
    const double shares[] = {0, 0.5, 1};
    context.options.tree_share = shares[random.below(3)];
  }
  if (random.below(4) == 0) context.options.valid_fraction = 0;
  return context;
}

struct Change {
  std::string name;
  std::function<void(TrainOptions&)> make;
};

const std::vector<Change>& changes() {
  static const std::vector<Change> all = {
      {"max_categories", [](TrainOptions& o) { o.max_categories = 2; }},
      {"power", [](TrainOptions& o) { o.power = 1.7; }},
      {"keypoints", [](TrainOptions& o) { o.keypoints = Keypoints::quantile; }},
      {"continuous_keypoints", [](TrainOptions& o) { o.continuous_keypoints = 4; }},
      {"monotone_calibrators",
       [](TrainOptions& o) { o.monotone_calibrators = MonotoneCalibrators::all; }},
      {"initialization", [](TrainOptions& o) { o.initialization = Initialization::paper; }},
      {"lattice_noise", [](TrainOptions& o) { o.lattice_noise = 0.3; }},
      {"ensemble", [](TrainOptions& o) { o.ensemble = 2; }},
      {"trees",
       [](TrainOptions& o) {
         o.trees = 7;
         o.tree_share = o.tree_share.value_or(0.5);
       }},
      {"tree_leaves", [](TrainOptions& o) { o.tree_leaves = 3; }},
      {"tree_rate", [](TrainOptions& o) { o.tree_rate = 0.3; }},
      {"tree_share", [](TrainOptions& o) { o.tree_share = 0.7; }},
      {"epochs", [](TrainOptions& o) { o.epochs = 2; }},
      {"batch_size", [](TrainOptions& o) { o.batch_size = 16; }},
      {"learning_rate", [](TrainOptions& o) { o.learning_rate = 0.013; }},
      {"adam_epsilon", [](TrainOptions& o) { o.adam_epsilon = 0.5; }},
      {"schedule", [](TrainOptions& o) { o.schedule = Schedule::constant; }},
      {"weight_decay", [](TrainOptions& o) { o.weight_decay = 5; }},
      {"projection", [](TrainOptions& o) { o.projection = Projection::exact; }},
      {"calibrator_laplacian", [](TrainOptions& o) { o.calibrator_laplacian = 0.3; }},
      {"calibrator_hessian", [](TrainOptions& o) { o.calibrator_hessian = 1; }},
      {"lattice_laplacian", [](TrainOptions& o) { o.lattice_laplacian = 1; }},
      {"lattice_torsion", [](TrainOptions& o) { o.lattice_torsion = 1; }},
      {"valid_fraction", [](TrainOptions& o) { o.valid_fraction = 0.4; }},
      {"patience", [](TrainOptions& o) { o.patience = 6; }},
  };
  return all;
}

struct Trained {
  std::vector<float> scores;
  std::set<std::string> idle;
  std::string settled;
};

Trained train_in(const Context& context, const TrainOptions& options) {
  const Table table = rows_of_steps(160, context.has_categories, context.has_classes);
  const Table valid = take_rows(rows_of_steps(200, context.has_categories, context.has_classes),
                                rows_between(160, 200));
  Trained trained;
  const TrainResult result = train(
      table, options,
      {.valid = context.has_valid ? &valid : nullptr, .warning = [&](const std::string& warning) {
         const std::size_t end = warning.find(": no effect in this run: ");
         if (end == warning.npos) return;
         std::string names = warning.substr(0, end);
         for (std::size_t space; (space = names.find(' ')) != names.npos;) names.erase(space, 1);
         for (const std::string& name : split_at_commas(names)) trained.idle.insert(name);
       }});
  trained.settled = to_json(result.options);
  trained.scores = result.model.predict(
      rows_of_steps(500, context.has_categories, context.has_classes), Output::score);
  return trained;
}

TEST(IdleOptions, AreThoseThatDoNotChangeTheModel) {
  Random random(15);
  int idle = 0;
  for (int i = 0; i < effort(250, 25); ++i) {
    const Context context = random_context(random);
    const Change& change = changes()[static_cast<std::size_t>(i) % changes().size()];
    TrainOptions changed = context.options;
    change.make(changed);
    SCOPED_TRACE(fmt::format("{} in {} words {} classes {} valid {}", change.name,
                             to_json(context.options), context.has_categories, context.has_classes,
                             context.has_valid));
    const Trained before = train_in(context, context.options), after = train_in(context, changed);
    const Json chosen = Json::parse(before.settled), wanted = Json::parse(to_json(changed));
    if (chosen[change.name] == wanted[change.name]) continue;  // training chooses the same
    const bool is_same = after.scores == before.scores;
    // Two projections agree where no step has left the feasible lattices.
    if (change.name == "projection" && is_same) continue;
    EXPECT_EQ(after.idle.contains(change.name), is_same);
    idle += after.idle.contains(change.name) ? 1 : 0;
  }
  EXPECT_GT(idle, effort(50, 3));
}

std::vector<std::string> idle_in(const TrainOptions& options, const Table* valid = nullptr) {
  const Table table = rows_of_steps(160, true, false);
  return idle_options(options, pose({.table = table}, options, {.valid = valid}), valid != nullptr);
}

TEST(IdleOptions, AreNamedWithTheReason) {
  EXPECT_THAT(idle_in({.label = "y"}), IsEmpty());
  EXPECT_THAT(idle_in({.label = "y", .tree_share = 1, .calibrator_hessian = 0.1, .patience = 3}),
              ElementsAre("calibrator_hessian, patience: no effect in this run: tree_share is 1, "
                          "which leaves the networks out"));
  EXPECT_THAT(idle_in({.label = "y", .trees = 0, .tree_leaves = 9, .tree_share = 1}),
              ElementsAre("tree_leaves, tree_share: no effect in this run: trees is 0"));
  EXPECT_THAT(idle_in({.label = "y", .power = 1.2, .epochs = 5, .patience = 9}),
              ElementsAre("power: no effect in this run: the loss is squared_error",
                          "patience: no effect in this run: there are 5 epochs"));
  EXPECT_THAT(idle_in({.label = "y", .valid_fraction = 0, .metric = Metric::rmse}),
              ElementsAre("metric: no effect in this run: there are no validation rows"));
  const Table valid = rows_of_steps(20, true, false);
  EXPECT_THAT(
      idle_in({.label = "y", .valid_fraction = 0.3}, &valid),
      ElementsAre("valid_fraction: no effect in this run: there are validation rows of their own"));
}

}  // namespace
}  // namespace espalier
