// SPDX-License-Identifier: Apache-2.0
#include "core/text.h"

#include <gtest/gtest.h>

#include "espalier/error.h"
#include "espalier/text.h"
#include "support/error_of.h"

namespace espalier {
namespace {

TEST(SplitAtCommas, KeepsEveryPartWithoutTheBlanksAroundIt) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(split_at_commas("a"), Parts{"a"});
  EXPECT_EQ(split_at_commas(" a,\tb c ,d\n"), (Parts{"a", "b c", "d"}));
  EXPECT_EQ(split_at_commas(""), Parts{""});
  EXPECT_EQ(split_at_commas(",a, ,"), (Parts{"", "a", "", ""}));
}

TEST(EditDistance, CountsInsertionsDeletionsAndReplacements) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("Age", "age"), 0u);
  EXPECT_EQ(edit_distance("epoch", "epochs"), 1u);
}

TEST(Nearest, FindsTheWordThatWasMeant) {
  const std::vector<std::string> words = {"epochs", "learning_rate", "seed", "age", "wage"};
  EXPECT_EQ(nearest("epoch", words), "epochs");
  EXPECT_EQ(nearest("lerning_rte", words), "learning_rate");
  EXPECT_EQ(nearest("AGE", words), "age");
  EXPECT_EQ(nearest("sede", words), "seed");
}

TEST(Nearest, FindsNothingWhereNothingIsNear) {
  const std::vector<std::string> words = {"epochs", "learning_rate", "ab"};
  EXPECT_EQ(nearest("temperature", words), std::nullopt);
  EXPECT_EQ(nearest("", words), std::nullopt);
  EXPECT_EQ(nearest("xy", words), std::nullopt);
  EXPECT_EQ(nearest("epochs", std::vector<std::string>()), std::nullopt);
}

// A guess looks only at words of about the same length, and at none for a very long one.
TEST(Nearest, IsBoundedForNamesOfAnyLength) {
  const std::string huge(10'000'000, 'x');
  EXPECT_EQ(nearest("ab", std::vector<std::string>{huge, "xx"}), std::nullopt);
  EXPECT_EQ(nearest("age", std::vector<std::string>{huge, "ages"}), "ages");
  EXPECT_EQ(nearest(huge, std::vector<std::string>{huge + "x", "x"}), std::nullopt);
}

TEST(Nearest, PrefersTheFirstOfEquals) {
  const std::vector<std::string> words = {"cat", "bat"};
  EXPECT_EQ(nearest("rat", words), "cat");
}

TEST(Error, MessagesKeepTheirEndsWhateverTheNamesInThem) {
  const auto message = [](const std::string& name) {
    return std::string(Error(ErrorKind::data, "t.csv: '" + name + "' is no number").what());
  };
  EXPECT_EQ(message("abc"), "t.csv: 'abc' is no number");
  for (const char* letter : {"x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8c\xb1"}) {
    std::string name;
    for (int i = 0; i < 100'000; ++i) name += letter;
    const std::string cut = message(name);
    EXPECT_LT(cut.size(), 5000u);
    EXPECT_TRUE(cut.starts_with("t.csv: '") && cut.ends_with("' is no number") && is_utf8(cut));
  }
}

TEST(Text, KnowsWellFormedUtf8) {
  for (const char* good : {"", "plain", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8c\xb1"})
    EXPECT_TRUE(is_utf8(good));
  // Latin-1, a cut character, an overlong slash, a surrogate, a code point too far.
  for (const char* bad : {"caf\xe9", "\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    EXPECT_FALSE(is_utf8(bad)) << bad;
  }
}

TEST(Text, SizesOfMemoryAreReadAsPeopleWriteThem) {
  EXPECT_EQ(read_memory("memory", "32M"), 1u << 25);
  EXPECT_EQ(read_memory("memory", "1.5G"), 3u << 29);
  EXPECT_EQ(read_memory("memory", "1e9"), 1'000'000'000u);
  EXPECT_EQ(read_memory("memory", "1T"), std::uint64_t{1} << 40);
  for (const char* text : {"", "G", "31M", "2GB", "2g", "-2G", "nan", "inf", "1e30", "2 G"}) {
    EXPECT_EQ(
        error_of([&] { read_memory("memory", text); }),
        std::string("memory: '") + text + "' is not a size of at least 32M, such as 512M or 2G");
  }
}

}  // namespace
}  // namespace espalier
