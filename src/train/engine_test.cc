// SPDX-License-Identifier: Apache-2.0
#include "train/engine.h"

#include <gtest/gtest.h>

#include "espalier/simulate.h"
#include "model/model_data.h"
#include "model/model_file.h"
#include "train/initialize.h"
#include "train/problem.h"

namespace espalier {
namespace {

// A network of a seed, as it is before training.
struct Student {
  Student(const Problem& p, std::uint64_t seed)
      : network(p.architecture, input_wires(p.schema), p.options->monotone_calibrators,
                Random(seed)),
        batches(p.train, p.options->batch_size, {0, num_shards_of(p.options->batch_size)},
                Random(seed + 1)) {
    initialize(p.train, p.schema.label, p.options, Random(seed + 2), network);
    batches.next_epoch();
  }

  std::vector<Batch> steps(std::int64_t first, std::int64_t last) {
    std::vector<Batch> steps;
    for (std::int64_t step = first; step < last; ++step) steps.push_back(batches.batch(step));
    return steps;
  }

  std::vector<float> params() const { return {network.params().begin(), network.params().end()}; }

  Network network;
  Batches batches;
  AdamState adam;
};

class Engines : public testing::Test {
 protected:
  EngineInput input() { return {&problem.options, &objective, 20, &team}; }

  // Twenty steps on the same batch.
  void expect_steps(const Problem& own) {
    Student student(own, 3);
    const Objective own_objective{own.schema.label, own.train};
    Engine engine({&own.options, &own_objective, 20, &team}, {{&student.network, &student.adam}});
    const std::vector<Batch> again(20, student.batches.batch(0));
    std::vector<double> losses;
    for (const Batch& batch : again) {
      LossSum sum;
      const std::vector<Batch> run = {batch};
      engine.run({&run, 1}, {&sum, 1});
      losses.push_back(sum.loss / sum.weight);
    }
    EXPECT_LT(losses.back(), losses.front());
    check_network(
        student.network, [](const std::string& culprit) { ADD_FAILURE() << culprit; },
        [](int, const Check&) {});
  }

  Table table = simulate({.rows = 900, .numbers = 4, .categories = 1});
  Problem problem = pose({.table = table},
                         {.label = "default",
                          .increasing = {"debt_ratio"},
                          .architecture = "cal(6) lin(6) cal(4) lat(3x2) lin(1)",
                          .batch_size = 192,
                          .calibrator_hessian = 0.01},
                         {});
  Objective objective{problem.schema.label, problem.train};
  Team team{2};
};

TEST_F(Engines, ItDoesNotMatterHowStepsAreCutIntoRuns) {
  Student whole(problem, 1), cut(problem, 1);
  const std::int64_t steps = whole.batches.steps_per_epoch();
  LossSum whole_sum, cut_sum;
  Engine engine(input(), {{&whole.network, &whole.adam}});
  const std::vector<Batch> all = whole.steps(0, steps);
  engine.run({&all, 1}, {&whole_sum, 1});
  Engine other(input(), {{&cut.network, &cut.adam}});
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::vector<Batch> run = cut.steps(step, step + 1);
    other.run({&run, 1}, {&cut_sum, 1});
  }
  EXPECT_EQ(cut.params(), whole.params());
  EXPECT_EQ(cut.adam.mean, whole.adam.mean);
  EXPECT_EQ(cut.adam.variance, whole.adam.variance);
  EXPECT_EQ(cut.adam.steps_done, steps);
  EXPECT_EQ(cut_sum.loss, whole_sum.loss);
  EXPECT_NE(whole.params(), Student(problem, 1).params());
}

TEST_F(Engines, SeveralNetworksTrainAsEachAlone) {
  Student a(problem, 1), b(problem, 5);
  LossSum sums[2];
  Engine together(input(), {{&a.network, &a.adam}, {&b.network, &b.adam}});
  const std::vector<Batch> steps[] = {a.steps(0, 3), b.steps(0, 2)};
  together.run(steps, sums);
  for (const auto& [student, seed, count, sum] :
       {std::tuple(&a, 1, 3, sums[0]), std::tuple(&b, 5, 2, sums[1])}) {
    Student alone(problem, static_cast<std::uint64_t>(seed));
    LossSum own;
    Engine engine(input(), {{&alone.network, &alone.adam}});
    const std::vector<Batch> run = alone.steps(0, count);
    engine.run({&run, 1}, {&own, 1});
    EXPECT_EQ(student->params(), alone.params());
    EXPECT_EQ(sum.loss, own.loss);
    EXPECT_EQ(sum.weight, own.weight);
  }
}

TEST_F(Engines, AStepLowersTheLossOfItsBatchAndKeepsTheInequalities) { expect_steps(problem); }

// Leaves learn like any parameter; the first trees lie within [0, 1], for those behind them.
TEST_F(Engines, TreesKeepTheirOrders) {
  expect_steps(pose({.table = table},
                    {.label = "default",
                     .increasing = {"debt_ratio", "late_payments"},
                     .architecture = "cal(6) tree(0>0.5,1>0.3,_,_,1>0.6,_,2>0.5,_,_,1>0.5,_,_) "
                                     "lat(1x2) tree(0>0.4,_,0>0.6,_,_) sum",
                     .batch_size = 192},
                    {}));
}

}  // namespace
}  // namespace espalier
