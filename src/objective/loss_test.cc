// SPDX-License-Identifier: Apache-2.0
#include "objective/loss.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "objective/fit_label.h"
#include "objective/link.h"

namespace espalier {
namespace {

// A label of every loss, fitted to some rows, and one of these.
struct Case {
  Label label;
  Dataset data;
};

Case random_case(Loss loss) {
  Case own{.label = {.name = "y", .loss = loss}};
  Label& label = own.label;
  if (loss == Loss::log_loss) label.classes = {"a", "b", "c"}, label.ordered = true;
  if (loss == Loss::quantile) label.quantiles = {0.1, 0.5, 0.9};
  if (loss == Loss::poisson) label.power = 1;
  if (loss == Loss::gamma) label.power = 2;
  if (loss == Loss::tweedie) label.power = *rc::gen::element(1.1, 1.5, 1.9);
  label.offsets.resize(label.num_scores());
  Dataset& data = own.data;
  data.num_rows = 20;
  for (std::size_t i = 0; i < data.num_rows; ++i) {
    data.labels.push_back(loss == Loss::log_loss ? *rc::gen::inRange(0, 3)
                                                 : *rc::gen::inRange(1, 1000) / 64.0);
    data.beside[Role::weight].push_back(static_cast<float>(*rc::gen::inRange(1, 5)));
    data.beside[Role::offset].push_back(static_cast<float>(*rc::gen::inRange(-8, 9)) / 8);
    if (label.has_log_link() && loss != Loss::gamma)
      data.beside[Role::exposure].push_back(static_cast<float>(*rc::gen::inRange(1, 9)) / 4);
  }
  fit_label(data, label);
  return own;
}

constexpr Loss kLosses[] = {Loss::log_loss, Loss::squared_error, Loss::absolute_error,
                            Loss::quantile, Loss::poisson,       Loss::gamma,
                            Loss::tweedie};

RC_GTEST_PROP(Loss, GradientIsTheSlopeOfTheLoss, ()) {
  for (const Loss loss : kLosses) {
    const Case own = random_case(loss);
    const Objective objective(own.label, own.data);
    const LossRow row{.y = own.data.labels[0],
                      .exposure = own.data.exposure(0),
                      .offset = own.data.offset(0),
                      .level = *rc::gen::inRange<std::size_t>(0, own.label.num_levels())};
    const float z = static_cast<float>(*rc::gen::inRange(-512, 512)) / 128;
    constexpr float kStep = 1.0f / 1024;
    const double up = row_loss(objective, z + kStep, row).loss;
    const double down = row_loss(objective, z - kStep, row).loss;
    const double here = row_loss(objective, z, row).loss;
    const double slope = (up - down) / (2.0 * kStep);
    // A loss with a bend here has two slopes.
    if (std::abs(up + down - 2 * here) > 1e-4 * kStep + 1e-3 * std::abs(up - down)) continue;
    RC_ASSERT(std::abs(row_loss(objective, z, row).gradient - slope) <=
              2e-4 * (1 + std::abs(slope)));
  }
}

RC_GTEST_PROP(Loss, CurvatureIsTheSlopeOfTheGradient, ()) {
  for (const Loss loss : kLosses) {
    const Case own = random_case(loss);
    if (!has_hessian(own.label)) continue;
    const Objective objective(own.label, own.data);
    const LossRow row = loss_row(own.data, 0);
    const float z = static_cast<float>(*rc::gen::inRange(-512, 512)) / 128;
    constexpr float kStep = 1.0f / 256;
    const LossValue here = row_loss(objective, z, row);
    const double bend = (row_loss(objective, z + kStep, row).gradient -
                         row_loss(objective, z - kStep, row).gradient) /
                        (2.0 * kStep);
    RC_ASSERT(here.hessian >= 0);
    RC_ASSERT(std::abs(here.hessian - bend) <=
              1e-3 * (1 + std::abs(bend) + std::abs(here.gradient)));
  }
}

// At the model without features nothing pulls, and the losses with a log link bend by 1.
RC_GTEST_PROP(Loss, TheOffsetIsWhereTheMeanGradientVanishes, ()) {
  for (const Loss loss : {Loss::squared_error, Loss::poisson, Loss::gamma, Loss::tweedie}) {
    Case own = random_case(loss);
    if (loss == Loss::squared_error) own.data.beside[Role::offset].clear();
    fit_label(own.data, own.label);
    const Objective objective(own.label, own.data);
    const auto mean_gradient = [&](float z) {
      double sum = 0, total = 0;
      for (std::uint64_t i = 0; i < own.data.num_rows; ++i) {
        const LossRow row{own.data.labels[i], own.data.exposure(i), own.data.offset(i)};
        sum += own.data.weight(i) * row_loss(objective, z, row).gradient;
        total += own.data.weight(i);
      }
      return sum / total;
    };
    RC_ASSERT(std::abs(mean_gradient(0)) < 1e-4);
    if (loss == Loss::squared_error) continue;
    constexpr float kStep = 1.0f / 256;
    const double hessian = (mean_gradient(kStep) - mean_gradient(-kStep)) / (2 * kStep);
    RC_ASSERT(std::abs(hessian - 1) < 1e-2);
  }
}

RC_GTEST_PROP(Loss, NoScoreHasLessThanTheLeastLoss, ()) {
  for (const Loss loss : {Loss::squared_error, Loss::poisson, Loss::gamma, Loss::tweedie}) {
    Case own = random_case(loss);
    fit_label(own.data, own.label);
    const Objective objective(own.label, own.data);
    for (std::uint64_t i = 0; i < own.data.num_rows; ++i) {
      const LossRow row = loss_row(own.data, i);
      const double least = least_loss(objective, row);
      double seen = std::numeric_limits<double>::infinity();
      for (double z = -20; z <= 20; z += 1.0 / 64)
        seen = std::min(seen, row_loss(objective, static_cast<float>(z), row).loss);
      const double room = 1e-9 + 1e-6 * std::abs(least);
      RC_ASSERT(seen >= least - room);
      if (own.label.has_log_link() && row.y > 0) {
        const double best = std::log(row.y / own.label.unit / row.exposure);
        const double z = (best - own.label.offsets[0] - row.offset) / own.label.scale;
        RC_ASSERT(std::abs(row_loss(objective, static_cast<float>(z), row).loss - least) <=
                  1e-6 + 1e-3 * std::abs(least));
      }
    }
  }
}

TEST(Loss, OfARegressionIsTheSquaredErrorInUnitsOfTheLabel) {
  const Label label{.name = "y", .offsets = {10}, .scale = 4};
  const Objective objective(label, {});
  const float z = 0.5f;  // a score of 12
  EXPECT_EQ(score_of(label, 0, z, 0), 12);
  EXPECT_DOUBLE_EQ(objective.loss_in_label_units(row_loss(objective, z, {.y = 15}).loss), 9);
}

TEST(Loss, SumsAreWeightedAndGradientsToo) {
  const Label label{.name = "y", .loss = Loss::log_loss, .classes = {"no", "yes"}};
  Dataset data{.num_rows = 3, .labels = {1, 0, 1}};
  data.beside[Role::weight] = {2, 5, 0};
  const Objective objective(label, data);
  const std::uint64_t rows[] = {2, 0};
  const float z[] = {3, -1};
  float gradient[2];
  LossSum sum;
  add_losses(objective, data, rows, 0, z, gradient, 2, sum);
  EXPECT_EQ(sum.weight, 2);
  EXPECT_DOUBLE_EQ(sum.loss, 2 * log_loss(-1, true).loss);
  EXPECT_EQ(gradient[0], 0);
  EXPECT_FLOAT_EQ(gradient[1], 2 * row_loss(objective, -1, {.y = 1}).gradient);
}

// Two classes are the case in which the softmax of many is the sigmoid.
TEST(Loss, OfManyClassesHasTheSlopesOfTheSoftmax) {
  const Label label{
      .name = "y", .loss = Loss::log_loss, .classes = {"a", "b", "c"}, .offsets = {0.5, -1, 0.25}};
  const Dataset data{.num_rows = 2, .labels = {2, 0}};
  const Objective objective(label, data);
  const std::uint64_t rows[] = {0, 1};
  const auto loss_of = [&](const std::vector<float>& z, std::vector<float>& gradient) {
    LossSum sum;
    add_losses(objective, data, rows, 0, z.data(), gradient.data(), 2, sum);
    return sum.loss;
  };
  const std::vector<float> z = {0.5f, -2, 1, 0.25f, 3, -1};  // [class][row]
  std::vector<float> gradient(6), ignored(6);
  const double here = loss_of(z, gradient);
  EXPECT_GT(here, 0);
  for (std::size_t i = 0; i < z.size(); ++i) {
    std::vector<float> up = z, down = z;
    up[i] += 1.0f / 512;
    down[i] -= 1.0f / 512;
    EXPECT_NEAR((loss_of(up, ignored) - loss_of(down, ignored)) * 256, gradient[i], 1e-4);
  }
}

// As many turns as levels show every row at each of them.
TEST(Loss, EveryRowComesAtEveryLevel) {
  const Label label{.name = "y", .loss = Loss::quantile, .quantiles = {0.1, 0.2, 0.3, 0.4}};
  for (std::uint64_t row = 0; row < 9; ++row) {
    std::set<std::size_t> levels;
    for (std::size_t turn = 5; turn < 9; ++turn) levels.insert(level_of(label, row, turn));
    EXPECT_EQ(levels.size(), 4u);
  }
}

}  // namespace
}  // namespace espalier
