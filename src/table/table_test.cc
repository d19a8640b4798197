// SPDX-License-Identifier: Apache-2.0
#include "espalier/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier {
namespace {

using ::testing::ElementsAre;

TEST(TakeRows, CopiesCellsInTheOrderGivenAlsoFromBorrowedColumns) {
  const float elsewhere[] = {10, 20, 30};
  Table table{.name = "t", .num_rows = 3};
  table.columns.push_back({.name = "own", .numbers = {1, 2, 3}});
  table.columns.push_back({.name = "borrowed", .borrowed = elsewhere});
  table.columns.push_back({.name = "word",
                           .type = ColumnType::category,
                           .categories = {"a", "b"},
                           .codes = {1, kMissingCode, 0},
                           .missing = {"none"}});
  const std::uint64_t rows[] = {2, 0, 2};
  const Table taken = take_rows(table, rows);

  EXPECT_EQ(taken.name, "t");
  EXPECT_EQ(taken.num_rows, 3U);
  EXPECT_THAT(taken.find("own")->numbers, ElementsAre(3, 1, 3));
  EXPECT_THAT(taken.find("borrowed")->numbers, ElementsAre(30, 10, 30));
  EXPECT_THAT(taken.find("word")->codes, ElementsAre(0, 1, 0));
  EXPECT_THAT(taken.find("word")->categories, ElementsAre("a", "b"));
  EXPECT_THAT(taken.find("word")->missing, ElementsAre("none"));
}

}  // namespace
}  // namespace espalier
