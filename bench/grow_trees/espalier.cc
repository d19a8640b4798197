// SPDX-License-Identifier: Apache-2.0
// Seconds to grow a forest of a fixed size from encoded rows, binning included.
//   bench_grow_trees FOLDER TREES LEAVES THREADS
#include <chrono>
#include <ctime>

#include "boost/forest.h"
#include "contender.h"
#include "model/model_data.h"
#include "train/problem.h"

namespace espalier {
namespace {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void run(char** argv) {
  const std::string folder = argv[1];
  TrainOptions options = options_of(folder);
  options.trees = std::stoi(argv[2]);
  options.tree_leaves = std::stoi(argv[3]);
  options.tree_rate = 0.1;
  options.valid_fraction = 0;
  const Table table = read_csv(folder + "/train.csv");
  const Problem problem = pose({.table = table}, options, {});
  const Label& label = problem.schema.label;
  const std::vector<Wire> wires = input_wires(problem.schema);
  ThreadPool pool(std::stoi(argv[4]));

  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const double cpu_start = cpu_seconds();
  const Objective objective(label, problem.train);
  const Forest forest =
      grow_forest({.objective = &objective,
                   .wires = std::span(wires).first(problem.schema.features.size()),
                   .level_wire = wires.size() - 1,
                   .train = &problem.train,
                   .valid = &problem.valid,
                   .plan = {options.trees, options.tree_leaves, options.tree_rate},
                   .random = Random(1),
                   .pool = &pool,
                   .goes_on = [](std::span<const Tree>) { return true; }});
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::size_t leaves = 0;
  for (const Tree& tree : forest.trees) leaves += tree.values.size();
  report({{"contender", "espalier"},
          {"value", seconds},
          {"unit", "s"},
          {"cpu_seconds", cpu_seconds() - cpu_start},
          {"rows", problem.train.num_rows},
          {"trees", forest.trees.size()},
          {"leaves", leaves}});
}

}  // namespace
}  // namespace espalier

int main(int, char** argv) {
  return espalier::contend([=] { espalier::run(argv); });
}
