// SPDX-License-Identifier: Apache-2.0
#include "espalier/csv.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "espalier/error.h"
#include "support/temporary_folder.h"

namespace espalier {
namespace {

// A table as text that is easy to compare: "a:1 2 _;b:x y _", where _ is a missing cell.
std::string summary(const Table& table) {
  std::ostringstream out;
  for (const Column& column : table.columns) {
    if (&column != &table.columns.front()) out << ';';
    out << column.name << (column.type == ColumnType::number ? ":" : "=");
    for (std::size_t row = 0; row < table.num_rows; ++row) {
      if (row > 0) out << ' ';
      if (column.type == ColumnType::number) {
        const float number = column.numbers.at(row);
        std::isnan(number) ? out << '_' : out << number;
      } else {
        const std::int32_t code = column.codes.at(row);
        out << (code == kMissingCode ? "_" : column.categories.at(static_cast<std::size_t>(code)));
      }
    }
  }
  return out.str();
}

struct Case {
  const char* what;
  std::string text;
  std::string wanted;
  CsvOptions options = {};
};

void expect_tables(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    try {
      EXPECT_EQ(summary(parse_csv(c.text, c.options)), c.wanted);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

void expect_errors(ErrorKind kind, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    try {
      ADD_FAILURE() << "no error: " << summary(parse_csv(c.text, c.options, "t.csv"));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      EXPECT_EQ(std::string(error.what()), c.wanted);
    }
  }
}

TEST(Csv, ReadsWhatOthersWrite) {
  expect_tables({
      {"plain", "a,b\n1,x\n2,y\n", "a:1 2;b=x y"},
      {"no line break at the end", "a,b\n1,x\n2,y", "a:1 2;b=x y"},
      {"CRLF", "a,b\r\n1,x\r\n2,y\r\n", "a:1 2;b=x y"},
      {"CR alone", "a,b\r1,x\r2,y\r", "a:1 2;b=x y"},
      {"a byte order mark",
       "\xEF\xBB\xBF"
       "a,b\n1,x\n",
       "a:1;b=x"},
      {"a byte order mark before a quote", "\xEF\xBB\xBF\"a\",b\n1,x\n", "a:1;b=x"},
      {"spaces around cells", " a ,\tb\n 1 , x\t\n", "a:1;b=x"},
      {"blank lines", "\n\na,b\n1,x\n2,y\n\n \n", "a:1 2;b=x y"},
      {"an unnamed index column", ",a,b\n0,1,x\n1,2,y\n", "a:1 2;b=x y"},
      {"a quoted unnamed index column", "\"\",\"a\"\n\"1\",5\n\"2\",6\n", "a:5 6"},
      {"a delimiter at the end of each line", "a,b,\n1,x,\n2,y,\n", "a:1 2;b=x y"},
      {"an empty last cell", "a,b\n1,x\n2,", "a:1 2;b=x _"},
      {"semicolons", "a;b\n1;x,y\n", "a:1;b=x,y"},
      {"tabs with an unnamed column", "\ta\tb\n0\t1\t\n1\t\tx\n", "a:1 _;b=_ x"},
      {"bars", "a|b\n1|x\n", "a:1;b=x"},
      {"a delimiter that numbers have", "a.b\n1.2\n", "a:1;b:2", {.delimiter = '.'}},
      {"another one", "a-b\n1-2\n-3\n", "a:1 _;b:2 3", {.delimiter = '-'}},
      {"a given delimiter", "a b\n1 x\n", "a:1;b=x", {.delimiter = ' '}},
      {"delimiters in quotes do not count", "\"a;;;\",b\n1,2\n", "a;;;:1;b:2"},
      {"one column", "a\n1\n2\n\n3\n\n\n", "a:1 2 _ 3"},
      {"one column of words with spaces", "a\nx y\n", "a=x y"},
      {"infinities", "a\ninf\n-Infinity\n", "a:inf -inf"},
  });
}

TEST(Csv, ReadsQuotes) {
  expect_tables({
      {"delimiters", "a,b\n\"x,y\",1\n", "a=x,y;b:1"},
      {"line breaks", "a,b\n\"x\ny\",1\n\"x\r\ny\",2\n", "a=x\ny x\r\ny;b:1 2"},
      {"doubled quotes", "a,b\n\"x\"\"y\"\"\",1\n\"\"\"\",2\n", "a=x\"y\" \";b:1 2"},
      {"spaces kept inside", "a,b\n\" x \",1\n", "a= x ;b:1"},
      {"spaces dropped outside", "a,b\n1, \"x\" \n 2 , y\n", "a:1 2;b=x y"},
      {"numbers", "a,b\n\"1\",\" 2 \"\n", "a:1;b:2"},
      {"missing", "a,b\n\"\",\"NA\"\n1,x\n", "a:_ 1;b=_ x"},
      {"not at the start of a cell", "a,b\n6\" pipe,1\n", "a=6\" pipe;b:1"},
      {"a doubled quote in the header", "\"a\"\";\",b\n1,2\n", "a\";:1;b:2"},
  });
}

TEST(Csv, InfersTypes) {
  std::string late = "a,b\n";
  for (int i = 0; i < 1000; ++i) late += "1,2\n";
  const Table table = parse_csv(late + "x,3\n1,4\n");
  EXPECT_EQ(table.num_rows, 1002u);
  EXPECT_EQ(table.columns[0].type, ColumnType::category);
  EXPECT_EQ(table.columns[0].categories, (std::vector<std::string>{"1", "x"}));
  EXPECT_EQ(table.columns[0].codes[1001], 0);
  EXPECT_TRUE(table.columns[0].numbers.empty());
  EXPECT_EQ(table.columns[1].type, ColumnType::number);
  EXPECT_EQ(table.columns[1].numbers[1001], 4.0f);
  expect_tables({
      {"words in order of appearance", "a\ny\nx\ny\n", "a=y x y"},
      {"a column of missing cells holds numbers", "a,b\nNA,1\n?,2\n", "a:_ _;b:1 2"},
      {"one word is enough", "a\n1\n2\nthree\n", "a=1 2 three"},
      {"given: category", "a\n1\n1.0\n", "a=1 1.0", {.types = {{"a", ColumnType::category}}}},
      {"given: number", "a\n1\nNA\n", "a:1 _", {.types = {{"a", ColumnType::number}}}},
      {"given: a category of missing cells",
       "a,b\n,1\n",
       "a=_;b:1",
       {.types = {{"a", ColumnType::category}}}},
  });
}

TEST(Csv, KnowsMissingCells) {
  expect_tables({
      {"the usual words", "a,b\n,x\nNA,?\nn/a,null\nNaN,NULL\n5,NA\n", "a:_ _ _ _ 5;b=x _ _ _ _"},
      {"more words", "a,b\n1,x\nunknown,unknown\n", "a:1 _;b=x _", {.missing = {"unknown"}}},
      {"numbers by value",
       "a,b\n96,96\n96.0,1\n9.6e1,2\n97,3\n",
       "a:_ _ _ 97;b:96 1 2 3",
       {.column_missing = {{"a", {"96"}}}}},
      {"categories by word",
       "a,b\n96,1\n96.0,1\nx,1\n",
       "a=_ _ x;b:1 1 1",
       {.column_missing = {{"a", {"96"}}}}},
      {"both lists",
       "a,b\n-1,-1\n7,7\n",
       "a:_ _;b:_ 7",
       {.missing = {"-1"}, .column_missing = {{"a", {"7"}}}}},
  });
  expect_tables({
      {"a usual word that is not missing in one column",
       "a,b\nNA,NA\nEx,\n,1\n",
       "a=NA Ex _;b:_ _ 1",
       {.not_missing = {{"a", {"NA"}}}}},
      {"one that would be a number",
       "a,b\nnan,nan\n1,2\n",
       "a=nan 1;b:_ 2",
       {.not_missing = {{"a", {"nan"}}}}},
      {"a word of all columns",
       "a,b\n-1,-1\n2,2\n",
       "a:-1 2;b:_ 2",
       {.missing = {"-1"}, .not_missing = {{"a", {"-1"}}}}},
  });
  const Table table =
      parse_csv("a,b\n1,2\n", {.missing = {"-"}, .column_missing = {{"a", {"96"}}}});
  EXPECT_EQ(table.columns[0].missing, (std::vector<std::string>{"-", "96"}));
  EXPECT_EQ(table.columns[1].missing, (std::vector<std::string>{"-"}));
}

TEST(Csv, ChoosesColumns) {
  expect_tables({
      {"without a header", "1,x\n2,y\n", "a:1 2;b=x y", {.header = false, .columns = {"a", "b"}}},
      {"one column without a header", "\n1\n", "a:_ 1", {.header = false, .columns = {"a"}}},
      {"lines skipped", "# \"made\r\nby a tool\r\na,b\r\n1,2\r\n", "a:1;b:2", {.skip_lines = 2}},
      {"dropped", "a,b,c\n1,2,3\n", "a:1;c:3", {.drop = {"b"}}},
      {"only", "a,b,c\n1,2,3\n", "a:1;c:3", {.only = {"c", "a", "absent"}}},
      {"only and dropped", "a,b,c\n1,2,3\n", "c:3", {.drop = {"a"}, .only = {"c", "a"}}},
  });
}

TEST(Csv, KeepsTheTextOfNumbersWhereAsked) {
  const std::string text = "id,x\n16777217,1\n007,2\n NA ,3\n1.50,4\n";
  const Table table = parse_csv(text, {.keep_text = {"id"}});
  const Column& id = table.columns[0];
  EXPECT_EQ(id.type, ColumnType::number);
  EXPECT_EQ(id.numbers[1], 7);
  EXPECT_EQ(id.categories, (std::vector<std::string>{"16777217", "007", "1.50"}));
  EXPECT_EQ(id.codes, (std::vector<std::int32_t>{0, 1, kMissingCode, 2}));
  EXPECT_TRUE(table.columns[1].codes.empty());
}

// Doubles stand beside the floats exactly where those blur the numbers of the file.
TEST(Csv, KeepsDoublesWhereFloatsBlur) {
  const auto exact = [](const char* text) { return parse_csv(text).columns[0].exact; };
  using Doubles = std::vector<double>;
  EXPECT_EQ(exact("a\n16777217\n16777219\n16777221\n"), (Doubles{16777217, 16777219, 16777221}));
  EXPECT_EQ(exact("a\n0.1\n0.2\n"), (Doubles{0.1, 0.2}));
  EXPECT_EQ(exact("a\n0.1\n1e300\n3\n"), (Doubles{0.1, 1e300, 3}));
  EXPECT_EQ(exact("a\n0.1\n0.2\n0.3\n"), Doubles());
  EXPECT_EQ(exact("a\n16777216\n16777218\n16777220\n"), Doubles());
  // Known only when the last row is read, whatever the first ones looked like.
  std::string late = "a,b\n", early = "a,b\n0,1\n1,1\n2,1\n";
  for (int i = 0; i < 500; ++i) {
    late += "1,1\n";
    early += "16777217,1\n";
  }
  EXPECT_EQ(parse_csv(late + "1.1,1\n").columns[0].exact.back(), 1.1);
  EXPECT_EQ(parse_csv(late + "1.1,1\n2.2,1\n").columns[0].exact, Doubles());
  EXPECT_EQ(parse_csv(early).columns[0].exact, Doubles());
}

TEST(Csv, RefusesWhatIsNoTable) {
  expect_errors(
      ErrorKind::data,
      {
          {"empty", "", "t.csv: the file is empty"},
          {"a byte order mark alone", "\xEF\xBB\xBF", "t.csv: the file is empty"},
          {"blank", "\n \n", "t.csv: no header: the file is empty"},
          {"a header alone", "a,b\n\n", "t.csv: a header but no rows"},
          {"no rows", "\n\n", "t.csv: no rows", {.header = false, .columns = {"a", "b"}}},
          {"binary", std::string("a,b\n1,\0\n", 8), "t.csv: not a text table: it has NUL bytes"},
          {"binary without NUL", "\x89PNG\x1a\n1\n",
           "t.csv: not a text table: a column name has control characters"},
          {"too few lines to skip",
           "a\n1\n",
           "t.csv: 2 lines, wanted to skip 3",
           {.skip_lines = 3}},
          {"all lines skipped", "a\n1\n", "t.csv: no header: the file is empty", {.skip_lines = 2}},
          {"no columns left", "a\n1\n", "t.csv: no columns left to read", {.drop = {"a"}}},
          {"no columns left", "a\n1\n", "t.csv: no columns left to read", {.only = {"b"}}},
          {"duplicate names", "\na,b,a\n1,2,3\n", "t.csv: two columns are named 'a'"},
          {"an empty line", "a,b\n1,2\n\n3,4\n",
           "t.csv:3: an empty line, wanted 2 cells as in the header"},
          {"a line of spaces", "a,b\n1,2\n3,4\n  \n5,6\n",
           "t.csv:4: an empty line, wanted 2 cells as in the header"},
          {"too few cells", "a,b,c\n1,2,3\n1,2\n", "t.csv:3: 2 cells, wanted 3 as in the header"},
          {"too many cells", "a,b\n1,2,3,4\n", "t.csv:2: 4 cells, wanted 2 as in the header"},
          {"names do not fit",
           "1,2\n",
           "t.csv:1: 2 cells, wanted 3 as in the given columns",
           {.header = false, .columns = {"a", "b", "c"}}},
          {"an open quote", "a,b\n1,2\n1,\"x\n2,y\n",
           "t.csv:3: a quote opens here and never closes"},
          {"an open quote after a doubled one", "a\n\"x\"\"",
           "t.csv:2: a quote opens here and never closes"},
          {"text after a quote", "a,b\n\"x\"y,1\n", "t.csv:2: text after a closing quote"},
      });
}

TEST(Csv, CountsPhysicalLines) {
  const CsvOptions numbers = {.types = {{"b", ColumnType::number}}};
  const auto skipping = [&](int lines) {
    CsvOptions options = numbers;
    options.skip_lines = lines;
    return options;
  };
  const auto at = [](int line) {
    return "t.csv:" + std::to_string(line) + ": column 'b': 'abc' is not a number";
  };
  expect_errors(ErrorKind::data,
                {
                    {"plain", "a,b\n1,2\n1,abc\n", at(3), numbers},
                    {"CRLF", "a,b\r\n1,2\r\n1,abc\r\n", at(3), numbers},
                    {"blank lines", "\n\n\na,b\n1,abc\n", at(5), numbers},
                    {"skipped lines", "x\n\"\ny\na,b\n1,abc\n", at(5), skipping(3)},
                    {"breaks in cells", "a,b\n\"\n\r\n\",1\n\"\n\",abc\n", at(6), numbers},
                    {"breaks in the header", "\"a\n\",b\n1,abc\n", at(3), numbers},
                });
}

TEST(Csv, NamesTheCellThatIsNoNumber) {
  const CsvOptions numbers = {.types = {{"b", ColumnType::number}}};
  expect_errors(
      ErrorKind::data,
      {
          {"control characters", "a,b\n1,\"x\ny\"\n",
           "t.csv:2: column 'b': 'x\\ny' is not a number", numbers},
          {"a long cell", "a,b\n1," + std::string(1000, 'x') + "\n",
           "t.csv:2: column 'b': '" + std::string(40, 'x') + "...' is not a number", numbers},
      });
}

TEST(Csv, OptionalColumnsMayBeAbsent) {
  const CsvOptions options = {.column_missing = {{"b", {"9"}}},
                              .types = {{"a", ColumnType::category}, {"b", ColumnType::number}},
                              .optional = {"b"}};
  EXPECT_EQ(parse_csv("a\n1\n", options).columns.size(), 1u);
  const Table both = parse_csv("a,b\n1,9\n1,2\n", options);
  EXPECT_TRUE(std::isnan(both.columns.at(1).numbers.at(0)));
  EXPECT_THROW(parse_csv("b\n1\n", options), Error);
}

TEST(Csv, NamesTheColumnThatIsNotThere) {
  const std::string wanted = "t.csv: no column 'incme'; is it 'income'? (it has age, income)";
  const std::string text = "age,income\n1,2\n";
  std::string wide = "income";
  std::string row = "1";
  for (int i = 0; i < 20; ++i) {
    wide += ",c" + std::to_string(i);
    row += ",1";
  }
  expect_errors(ErrorKind::data,
                {
                    {"in types", text, wanted, {.types = {{"incme", ColumnType::number}}}},
                    {"in column_missing", text, wanted, {.column_missing = {{"incme", {"1"}}}}},
                    {"in drop", text, wanted, {.drop = {"incme"}}},
                    {"nothing near",
                     text,
                     "t.csv: no column 'zzzzzz' (it has age, income)",
                     {.drop = {"zzzzzz"}}},
                    {"too many to list",
                     wide + "\n" + row,
                     "t.csv: no column 'incme'; is it 'income'?",
                     {.drop = {"incme"}}},
                });
}

TEST(Csv, RefusesOptionsThatMakeNoSense) {
  expect_errors(ErrorKind::argument,
                {
                    {"no names",
                     "1,2\n",
                     "columns: a file without a header needs the names of its columns",
                     {.header = false}},
                    {"names twice",
                     "a\n1\n",
                     "columns: the names of the columns are in the header",
                     {.columns = {"a"}}},
                    {"lines", "a\n1\n", "skip_lines: wanted 0 or more", {.skip_lines = -1}},
                    {"threads", "a\n1\n", "threads: wanted 0 or more", {.threads = -1}},
                    {"delimiter",
                     "a\n1\n",
                     "delimiter: neither a quote nor a line break can separate cells",
                     {.delimiter = '"'}},
                });
}

class CsvFile : public testing::Test {
 protected:
  const TemporaryFolder folder_;
};

TEST_F(CsvFile, IsReadPlainAndCompressed) {
  const std::string text = "a,b\n1,x\n2,y\n";
  const std::string plain = folder_ / "t.csv";
  std::ofstream(plain) << text;
  const std::string packed = folder_ / "packed";  // known by its bytes, not by its name
  gzFile file = gzopen(packed.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  EXPECT_EQ(summary(read_csv(plain)), "a:1 2;b=x y");
  EXPECT_EQ(summary(read_csv(packed)), "a:1 2;b=x y");
  EXPECT_EQ(read_csv(plain).name, plain);
}

TEST_F(CsvFile, IsNamedInErrors) {
  const std::string path = folder_ / "absent.csv";
  try {
    read_csv(path);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::file);
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
  }
}

std::string written(const Table& table) {
  std::ostringstream out;
  write_csv(table, out);
  return out.str();
}

TEST(WriteCsv, WritesFewDigitsAndQuotesWhereItMust) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Column numbers{.name = "a,b", .numbers = {0.1f, nan, 1e20f, -INFINITY}};
  Column words{.name = "c",
               .type = ColumnType::category,
               .categories = {"x", "y,z", "say \"hi\""},
               .codes = {0, 1, kMissingCode, 2}};
  EXPECT_EQ(written({.columns = {numbers, words}, .num_rows = 4}),
            "\"a,b\",c\n0.1,x\n,\"y,z\"\n1e+20,\n-inf,\"say \"\"hi\"\"\"\n");
}

TEST(WriteCsv, RefusesATableThatContradictsItself) {
  const Column a{.name = "a", .numbers = {1, 2}};
  const Column b{.name = "b", .type = ColumnType::category, .categories = {"x"}, .codes = {0, 1}};
  EXPECT_THROW(written({.columns = {a}, .num_rows = 3}), Error);
  EXPECT_THROW(written({.columns = {b}, .num_rows = 2}), Error);
}

TEST(WriteCsv, SaysWhenTheStreamFails) {
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_THROW(write_csv({.columns = {{.name = "a", .numbers = {1}}}, .num_rows = 1}, out), Error);
}

// A word that is hard to quote; its first letter keeps it from being a number or missing.
rc::Gen<std::string> hard_word() {
  return rc::gen::map(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string(" ,;\t|\"\r\nab#"))),
      [](const std::string& rest) { return rest + "w" + rest; });
}

RC_GTEST_PROP(WriteCsv, IsReadBackTheSame, (const std::vector<float>& numbers)) {
  Table table;
  table.num_rows = numbers.size() + 1;
  const int num_columns = *rc::gen::inRange(1, 4);
  for (int i = 0; i < num_columns; ++i) {
    Column column{.name = *hard_word() + std::to_string(i), .type = ColumnType::category};
    column.categories = *rc::gen::unique<std::vector<std::string>>(hard_word());
    const auto num_categories = static_cast<std::int32_t>(column.categories.size());
    for (std::size_t row = 0; row < table.num_rows; ++row) {
      column.codes.push_back(*rc::gen::inRange(kMissingCode, num_categories));
    }
    table.columns.push_back(column);
  }
  if (*rc::gen::arbitrary<bool>()) {
    Column column{.name = "number", .numbers = numbers};
    column.numbers.push_back(std::numeric_limits<float>::quiet_NaN());
    table.columns.push_back(column);
  }
  CsvOptions options;
  for (const Column& column : table.columns) options.types[column.name] = column.type;
  const Table back = parse_csv(written(table), options);
  RC_ASSERT(back.num_rows == table.num_rows);
  RC_ASSERT(summary(back) == summary(table));
}

}  // namespace
}  // namespace espalier
