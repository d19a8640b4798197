// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/random.h"
#include "espalier/simulate.h"
#include "espalier/train.h"
#include "support/effort.h"
#include "support/error_of.h"
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

// The number before each " MB", in order.
std::vector<double> megabytes_in(const std::string& text) {
  std::vector<double> found;
  for (std::size_t at = text.find(" MB"); at != text.npos; at = text.find(" MB", at + 1)) {
    const std::size_t begin = text.rfind(' ', at - 1) + 1;
    found.push_back(std::stod(text.substr(begin, at - begin)));
  }
  return found;
}

TEST(NeededMemory, HasPartsThatAddUpToTheTotalThatIsEnough) {
  Random random(17);
  for (int i = 0; i < effort(30, 8); ++i) {
    const Table table = simulate({.rows = static_cast<std::int64_t>(100 + random.below(400)),
                                  .numbers = 4 + static_cast<int>(random.below(3)),
                                  .categories = 1 + static_cast<int>(random.below(3))});
    TrainOptions options = {.label = "default",
                            .interactions = {"none"},
                            .architecture = fmt::format("dln({}x2)", 2 + random.below(30)),
                            .ensemble = 1 + static_cast<int>(random.below(3)),
                            .trees = static_cast<int>(random.below(4)),
                            .epochs = 1};
    const std::uint64_t allowed = (1 << 20) + random.below(1 << 21);
    const auto error = [&](std::uint64_t memory) {
      return error_of([&] { train(table, options, {.memory = memory}); });
    };
    const std::string message = error(allowed);
    const std::vector<double> numbers = megabytes_in(message);
    ASSERT_EQ(numbers.size(), 7U) << message;
    EXPECT_LT(numbers[0], numbers[1]) << message;
    EXPECT_EQ(numbers[2] + numbers[3] + numbers[4] + numbers[5], numbers[1]) << message;
    EXPECT_EQ(error(static_cast<std::uint64_t>(numbers[1]) << 20), "no error");
    EXPECT_NE(error((static_cast<std::uint64_t>(numbers[1]) << 20) - 1), "no error");
  }
}

}  // namespace
}  // namespace espalier
