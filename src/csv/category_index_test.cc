// SPDX-License-Identifier: Apache-2.0
#include "csv/category_index.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(CategoryIndex, NumbersWordsInTheOrderOfTheirFirstAppearance) {
  CategoryIndex index;
  EXPECT_EQ(index.index_of("b"), 0);
  EXPECT_EQ(index.index_of(""), 1);
  EXPECT_EQ(index.index_of("a"), 2);
  EXPECT_EQ(index.index_of("b"), 0);
  EXPECT_EQ(index.index_of(""), 1);
  EXPECT_EQ(index.categories(), (std::vector<std::string>{"b", "", "a"}));
}

TEST(CategoryIndex, KeepsItsNumbersWhenItGrows) {
  CategoryIndex index;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 100'000; ++i) ASSERT_EQ(index.index_of(std::to_string(i)), i);
  }
}

}  // namespace
}  // namespace espalier
