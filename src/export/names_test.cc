// SPDX-License-Identifier: Apache-2.0
#include "export/names.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace espalier {
namespace {

TEST(Names, BecomeIdentifiersThatCanBeRecognised) {
  const std::pair<const char*, const char*> examples[] = {{"income", "income"},
                                                          {"age (years)", "age_years"},
                                                          {"class", "class_"},
                                                          {"AGE", "age"},
                                                          {"MonthlyIncome", "MonthlyIncome"},
                                                          {"2nd", "x2nd"},
                                                          {"", "x"},
                                                          {"--", "x"},
                                                          {"a__b", "a_b"},
                                                          {"_x_", "x"},
                                                          {"EOF", "eof"},
                                                          {"INT", "int_"},
                                                          {"linux", "linux_"},
                                                          {"Größe", "Gr_u00f6_u00df_e"},
                                                          {"年齢", "u5e74_u9f62"},
                                                          {"\xff", "u00ff"},
                                                          {"hours-per-week", "hours_per_week"}};
  for (const auto& [name, wanted] : examples) EXPECT_EQ(identifier_of(name), wanted) << name;
}

TEST(Names, ASecondUseIsCounted) {
  Scope scope({"Row"});
  EXPECT_EQ(scope.take("a b"), "a_b");
  EXPECT_EQ(scope.take("a-b"), "a_b_2");
  EXPECT_EQ(scope.take("a_b_2"), "a_b_2_2");
  EXPECT_EQ(scope.take("class"), "class_");
  EXPECT_EQ(scope.take("class "), "class_2");
  EXPECT_EQ(scope.take("Row"), "Row_2");
  EXPECT_EQ(scope.take("home", {"_code"}), "home");
  EXPECT_EQ(scope.take("home_code"), "home_code_2");
}

RC_GTEST_PROP(Names, AnyBytesBecomeAPlainIdentifier, (const std::string& name)) {
  RC_ASSERT(is_plain_identifier("a" + identifier_of(name)));
  Scope scope;
  const std::string first = scope.take(name), second = scope.take(name);
  RC_ASSERT(first != second);
  RC_ASSERT(first.back() == '_' || is_plain_identifier(first));
}

// Undoes what a compiler undoes.
std::string read_literal(std::string_view literal) {
  std::string text;
  for (std::size_t i = 1; i + 1 < literal.size(); ++i) {
    if (literal[i] != '\\') {
      text += literal[i];
      continue;
    }
    text += static_cast<char>(std::stoi(std::string(literal.substr(i + 1, 3)), nullptr, 8));
    i += 3;
  }
  return text;
}

RC_GTEST_PROP(Names, NoWordLeavesItsLiteralOrItsComment, (const std::string& word)) {
  const std::string literal = literal_of(word);
  RC_ASSERT(read_literal(literal) == word);
  RC_ASSERT(literal.find('"', 1) == literal.size() - 1);
  RC_ASSERT(literal.find('?') == literal.npos);
  const std::string comment = comment_of(word);
  RC_ASSERT(comment.find_first_of("\\*?\n\r\v\f") == comment.npos);
}

TEST(Names, MarksThatTurnTheDirectionOfWritingAreSpelledOut) {
  EXPECT_EQ(comment_of("a\xe2\x80\xae"
                       "b"),
            "\"a<U+202E>b\"");
  EXPECT_EQ(comment_of("Größe"), "\"Größe\"");
  EXPECT_EQ(comment_of("\xff*/\n"), "\"<FF><U+002A>/<U+000A>\"");
}

}  // namespace
}  // namespace espalier
