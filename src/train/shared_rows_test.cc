// SPDX-License-Identifier: Apache-2.0
#include "train/shared_rows.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "core/random.h"
#include "espalier/simulate.h"
#include "espalier/train.h"
#include "espalier/tune.h"
#include "support/effort.h"
#include "support/thread_ranks.h"
#include "train/train_on.h"

namespace espalier {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Table shared_loans(std::size_t rows, std::uint64_t seed) {
  return simulate(
      {.rows = static_cast<std::int64_t>(rows), .numbers = 4, .categories = 1, .seed = seed});
}

TrainOptions shared_options() {
  return {.label = "default",
          .interactions = {"none"},
          .architecture = "calibrated-linear",
          .ensemble = 1,
          .epochs = 1};
}

Table with_name(Table table, std::string name) {
  table.name = std::move(name);
  return table;
}

TEST(SharedRows, AreCountedWhateverTheirOrder) {
  Random random(1);
  const Table table = shared_loans(400, 1);
  for (int i = 0; i < effort(8, 3); ++i) {
    const std::size_t shared = random.below(40), repeated = random.below(10);
    std::vector<std::uint64_t> rows;
    for (std::size_t r = 0; r < shared; ++r) rows.push_back(400 + random.below(400));
    for (std::size_t r = 0; r < repeated && shared > 0; ++r)
      rows.push_back(rows[random.below(shared)]);
    const std::size_t wanted = rows.size();
    for (std::size_t r = 0; r < 50; ++r) rows.push_back(r);
    for (std::size_t r = rows.size(); r > 1; --r) std::swap(rows[r - 1], rows[random.below(r)]);
    Table joined{.name = "valid.csv", .num_rows = 800};
    for (const Column& column : shared_loans(400, 2).columns) {
      Column& all = joined.columns.emplace_back(column);
      const Column& other = *table.find(column.name);
      if (column.type == ColumnType::number) {
        all.numbers.insert(all.numbers.end(), other.numbers.begin(), other.numbers.end());
      } else {
        for (const std::int32_t code : other.codes) {
          const auto at = code == kMissingCode
                              ? all.categories.end()
                              : std::ranges::find(all.categories,
                                                  other.categories[static_cast<std::size_t>(code)]);
          all.codes.push_back(at == all.categories.end()
                                  ? kMissingCode
                                  : static_cast<std::int32_t>(at - all.categories.begin()));
        }
      }
    }
    const Table valid = with_name(take_rows(joined, rows), "valid.csv");
    std::vector<std::string> warnings;
    train(table, shared_options(), {.valid = &valid, .warning = [&](const std::string& warning) {
                                      warnings.push_back(warning);
                                    }});
    if (wanted == 0) {
      EXPECT_THAT(warnings, IsEmpty());
    } else {
      EXPECT_THAT(warnings,
                  ElementsAre(AllOf(
                      HasSubstr("valid.csv: "),
                      HasSubstr(fmt::format("{} of the {} validation rows equal training rows",
                                            wanted, rows.size())))));
    }
  }
}

TEST(SharedRows, AreCountedOnceBySeveralRanks) {
  const Table table = shared_loans(400, 1), valid = take_rows(table, rows_between(100, 250));
  std::vector<std::string> warnings;
  on_ranks(3, [&](Ranks& ranks) {
    TrainControl control{.valid = &valid, .ranks = &ranks};
    if (ranks.rank() == 0)
      control.warning = [&](const std::string& warning) { warnings.push_back(warning); };
    train_on({.table = table, .many_rows = 64}, shared_options(), control);
  });
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("150 of the 150 validation rows")));
}

TEST(SharedRows, AreWarnedOfOnceByASearch) {
  const Table table = shared_loans(300, 1), valid = take_rows(table, rows_between(0, 30));
  std::vector<std::string> warnings;
  tune(table, shared_options(), {.trials = 2, .confirm = 0},
       {.valid = &valid,
        .warning = [&](const std::string& warning) { warnings.push_back(warning); }});
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("30 of the 30 validation rows")));
}

}  // namespace
}  // namespace espalier
