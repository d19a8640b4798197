// SPDX-License-Identifier: Apache-2.0
// Code that must not compile. The compiler checks each line; every rule also has code that
// compiles.
#include <gtest/gtest.h>

#include <type_traits>

#include "core/thread_pool.h"
#include "espalier/auto.h"
#include "espalier/disk_table.h"
#include "layers/layer.h"
#include "train/initialize.h"
#include "train/problem.h"
#include "train/settled_options.h"
#include "train/trainer.h"

namespace espalier {
namespace {

template <class Options>
concept TrainsNetworks = requires(const Options& options) {
  TrainerInput{.options = &options};
};
template <class Options>
concept PosesAProblem = requires(Options options) {
  Problem{.options = options};
};
template <class Options>
concept DecidesTheModel = requires(const Options& options) {
  deciding_options(options);
};

TEST(RefusedCode, TrainsWithOptionsThatAreLeftOpen) {
  static_assert(TrainsNetworks<SettledOptions> && !TrainsNetworks<TrainOptions>);
  static_assert(PosesAProblem<SettledOptions> && !PosesAProblem<TrainOptions>);
  static_assert(DecidesTheModel<SettledOptions> && !DecidesTheModel<TrainOptions>);
  static_assert(std::is_constructible_v<SettledOptions, TrainOptions>);
  static_assert(!std::is_convertible_v<TrainOptions, SettledOptions>);
}

template <class Options>
concept CanBeChanged = requires(Options& options) {
  options->seed = 3;
};

TEST(RefusedCode, ChangesSettledOptions) {
  static_assert(CanBeChanged<TrainOptions*> && !CanBeChanged<SettledOptions>);
}

template <class Value, class Other>
concept Compares = requires(Value a, Other b) {
  a == b;
};

TEST(RefusedCode, TakesAWordForANumberThatMayBeLeftOpen) {
  static_assert(std::is_convertible_v<int, Auto<int>>);
  static_assert(!std::is_convertible_v<const char*, Auto<int>>);
  static_assert(Compares<Auto<int>, int> && !Compares<Auto<int>, const char*>);
}

TEST(RefusedCode, CopiesWhatOwnsThreadsFilesOrViewsOfParameters) {
  static_assert(std::is_constructible_v<ThreadPool, int> &&
                !std::is_copy_constructible_v<ThreadPool>);
  static_assert(!std::is_copy_constructible_v<DiskTableWriter>);
  static_assert(!std::is_copy_constructible_v<Layer>);
}

}  // namespace
}  // namespace espalier
