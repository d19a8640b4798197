// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error_of.h"
#include "espalier/simulate.h"
#include "espalier/train.h"
#include "train/presets.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

TEST(NeededMemory, IsKnownForEveryPresetBeforeTheFirstStep) {
  const Table table = simulate({.rows = 200, .numbers = 4, .categories = 1});
  for (const std::string& preset : preset_names()) {
    const TrainOptions options = {.label = "default", .architecture = preset, .epochs = 1};
    TrainControl control;
    control.memory = std::uint64_t{1} << 20;
    control.progress = [](const Progress&) { FAIL() << "a step"; };
    EXPECT_THAT(error_of([&] { train(table, options, control); }),
                HasSubstr("memory: 1 MB are allowed, but training takes up to"))
        << preset;
  }
  for (const char* small : {"crystals(3x2)", "dln(3x2)"}) {
    const TrainOptions options = {
        .label = "default", .architecture = small, .ensemble = 1, .epochs = 1};
    const auto bytes = [&](std::uint64_t memory) {
      return train(table, options, {.memory = memory}).model.to_bytes();
    };
    EXPECT_TRUE(bytes(std::uint64_t{1} << 30) == bytes(0)) << small;
  }
}

}  // namespace
}  // namespace espalier
