// SPDX-License-Identifier: Apache-2.0
#include "objective/loss.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "objective/link.h"

namespace espalier {
namespace {

Label random_label(Task task) {
  Label label{.name = "y", .task = task};
  label.offset = static_cast<float>(*rc::gen::inRange(-300, 300)) / 100;
  if (task == Task::regression) label.scale = static_cast<float>(*rc::gen::inRange(1, 500)) / 100;
  return label;
}

RC_GTEST_PROP(Loss, GradientIsTheSlopeOfTheLoss, ()) {
  for (const Task task : {Task::classification, Task::regression}) {
    const Label label = random_label(task);
    const float y = task == Task::classification
                        ? static_cast<float>(*rc::gen::inRange(0, 2))
                        : static_cast<float>(*rc::gen::inRange(-1000, 1000)) / 64;
    const float z = static_cast<float>(*rc::gen::inRange(-512, 512)) / 128;
    constexpr float kStep = 1.0f / 1024;
    const double slope =
        (row_loss(label, z + kStep, y).loss - row_loss(label, z - kStep, y).loss) / (2.0 * kStep);
    RC_ASSERT(std::abs(row_loss(label, z, y).gradient - slope) <= 1e-4 * (1 + std::abs(slope)));
  }
}

TEST(Loss, OfARegressionIsTheSquaredErrorInUnitsOfTheLabel) {
  const Label label{.name = "y", .task = Task::regression, .offset = 10, .scale = 4};
  const float z = 0.5f;  // a score of 12
  EXPECT_EQ(score_of(label, z), 12);
  EXPECT_DOUBLE_EQ(loss_in_label_units(label, row_loss(label, z, 15).loss), 9);
}

TEST(Loss, SumsAreWeightedAndGradientsToo) {
  const Label label{.name = "y", .task = Task::classification};
  Dataset data{.num_rows = 3, .labels = {1, 0, 1}};
  data.beside[Role::weight] = {2, 5, 0};
  const std::uint32_t rows[] = {2, 0};
  const float z[] = {3, -1};
  float gradient[2];
  LossSum sum;
  add_losses(label, data, rows, z, gradient, sum);
  EXPECT_EQ(sum.weight, 2);
  EXPECT_DOUBLE_EQ(sum.loss, 2 * log_loss(-1, true).loss);
  EXPECT_EQ(gradient[0], 0);
  EXPECT_FLOAT_EQ(gradient[1], 2 * row_loss(label, -1, 1).gradient);
}

}  // namespace
}  // namespace espalier
