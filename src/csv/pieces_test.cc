// SPDX-License-Identifier: Apache-2.0
#include "csv/pieces.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/random.h"
#include "csv/rows.h"
#include "espalier/error.h"
#include "support/effort.h"
#include "support/temporary_folder.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

std::string text_of(const Column& column, std::size_t row) {
  if (column.type == ColumnType::number) return fmt::format("{}", column.number(row));
  const std::int32_t code = column.category_codes()[row];
  return code == kMissingCode ? "" : column.categories[static_cast<std::size_t>(code)];
}

// Cell by cell, and the message if reading fails.
struct Seen {
  std::string cells;
  std::string error;
  std::size_t num_pieces = 0;

  void add(const Table& table) {
    ++num_pieces;
    for (std::size_t row = 0; row < table.num_rows; ++row) {
      for (const Column& column : table.columns)
        cells += fmt::format("{}={}|", column.name, text_of(column, row));
      cells += fmt::format("{}\n", table.first_row + row + 1);
    }
  }
};

Seen whole(const std::string& text, const CsvOptions& options) {
  Seen seen;
  try {
    seen.add(parse_csv(text, options, "t.csv"));
  } catch (const Error& error) {
    seen.error = error.what();
  }
  return seen;
}

Seen in_pieces(const std::string& text, const CsvOptions& options, std::size_t piece_bytes,
               std::size_t block_bytes) {
  Seen seen;
  std::size_t at = 0;
  const auto source = [&] {
    const std::string block = text.substr(at, block_bytes);
    at += block.size();
    return block;
  };
  try {
    PieceReader reader(source, options, "t.csv", piece_bytes);
    for (Table piece; reader.next(piece);) seen.add(piece);
  } catch (const Error& error) {
    seen.error = error.what();
  }
  return seen;
}

// What was read before an error is the beginning of the table.
void expect_same_for_all_pieces(const std::string& text, const CsvOptions& options) {
  const Seen wanted = whole(text, options);
  for (std::size_t piece = 1; piece < text.size() + 2; piece += 1 + piece / 2) {
    for (const std::size_t block : {std::size_t{1}, std::size_t{7}, piece}) {
      const Seen seen = in_pieces(text, options, piece, block);
      ASSERT_EQ(seen.error, wanted.error) << piece << " bytes of\n" << text;
      if (wanted.error.empty()) {
        ASSERT_EQ(seen.cells, wanted.cells) << piece << " bytes of\n" << text;
      }
    }
  }
}

std::string random_odd_cell(Random& random) {
  static const std::string kCells[] = {
      "1",    "-2.5", "x",   "y z",       "",          "NA",         "6\" pipe",      "\"q\"",
      "3",    "\"\"", " 7 ", "\"a\nb,\"", "\"1\r\n\"", "\"\"\"\n\"", "\"\n\n1,2\n\"", "\"x\r\"",
      "\";\""};
  return kCells[random.below(std::size(kCells))];
}

std::string random_table(Random& random, std::size_t width) {
  static const std::string kBreaks[] = {"\n", "\r\n", "\r"};
  const std::string line_break = kBreaks[random.below(3)];
  std::string text = random.below(4) == 0 ? "\xEF\xBB\xBF" : "";
  for (std::size_t c = 0; c < width; ++c) text += (c > 0 ? ",c" : "c") + std::to_string(c);
  for (std::size_t row = 0; row < 12; ++row) {
    text += line_break;
    for (std::size_t c = 0; c < width; ++c) text += (c > 0 ? "," : "") + random_odd_cell(random);
  }
  for (std::size_t blank = random.below(4); blank > 0; --blank) text += line_break + " ";
  return text + (random.below(2) == 0 ? line_break : "");
}

TEST(CsvPieces, AreTheWholeTable) {
  Random random(1);
  for (int i = 0; i < effort(20, 5); ++i) {
    const std::size_t width = 1 + random.below(3);
    CsvOptions options;
    for (std::size_t c = 0; c < width; ++c)
      options.types[fmt::format("c{}", c)] = ColumnType::category;
    expect_same_for_all_pieces(random_table(random, width), options);
  }
}

TEST(CsvPieces, FailWhereTheWholeTableFails) {
  Random random(2);
  for (int i = 0; i < effort(20, 5); ++i) {
    const std::size_t width = 2 + random.below(2);
    std::string text = random_table(random, width);
    const CsvOptions options = {
        .types = {{"c0", ColumnType::category},
                  {"c1", random.below(3) == 0 ? ColumnType::number : ColumnType::category}},
        .only = {"c0", "c1"}};
    static const std::string kEnds[] = {
        "", "1\n", "\n\n1,2,3,4\n", "1,\"open\n2,3\n", "1,\"x\" y\n", "1,2,3,4,5,6\n1,2\n"};
    expect_same_for_all_pieces(text + "\n" + kEnds[random.below(std::size(kEnds))], options);
  }
}

TEST(CsvPieces, BeginAsTheWholeTableDoes) {
  const CsvOptions categories = {
      .types = {{"a", ColumnType::category}, {"b", ColumnType::category}}};
  const auto with = [&](auto change) {
    CsvOptions options = categories;
    change(options);
    return options;
  };
  const std::string texts[] = {"",
                               "\n",
                               "a,b",
                               "a,b\n",
                               "a,b\n\n\n",
                               "\n\na,b\n1,2\n",
                               "a,b\n1,2",
                               "x\n\r\ny\na,b\n1,2\n3,4\n",
                               "a;b;\"c,d\ne\",f,g,h\n1,2,3,4,5,6\n",
                               "1,2\n3,4\n"};
  for (const std::string& text : texts) {
    expect_same_for_all_pieces(text, categories);
    expect_same_for_all_pieces(text, {});
    expect_same_for_all_pieces(text, with([](CsvOptions& o) { o.skip_lines = 2; }));
    expect_same_for_all_pieces(text, with([](CsvOptions& o) { o.delimiter = ' '; }));
    expect_same_for_all_pieces(text, with([](CsvOptions& o) {
                                 o.header = false;
                                 o.columns = {"a", "b"};
                               }));
  }
}

TEST(CsvPieces, AreAsSmallAsAskedFor) {
  std::string text = "a,b\n";
  for (int row = 0; row < 1000; ++row) text += fmt::format("{},\"x\ny\"\n", row);
  EXPECT_GT(in_pieces(text, {}, 100, 64).num_pieces, 60U);
  EXPECT_GT(in_pieces(text, {}, 100, text.size()).num_pieces, 60U);
}

class Shards : public testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

  std::string read(const std::string& name) const {
    Seen seen;
    CsvPieces pieces((folder_ / name).string(), {}, 16);
    for (Table piece; pieces.next(piece);) seen.add(piece);
    return seen.cells;
  }

  std::string error_of(const std::string& name) const {
    try {
      read(name);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
};

TEST_F(Shards, OfAFolderOrAPatternComeByName) {
  put("part-2.csv", "a,b\n3,4\n");
  put("part-1.csv", "a,b\n1,2\n");
  put("_SUCCESS", "");
  EXPECT_EQ(read("part-*.csv"), "a=1|b=2|1\na=3|b=4|1\n");
  EXPECT_EQ(read(""), read("part-*.csv"));
  EXPECT_EQ(read("part-[2].csv"), "a=3|b=4|1\n");
  EXPECT_THAT(error_of("q*.csv"), HasSubstr("no file matches"));

  const auto listed = [&](const std::string& list) { return shards_of("@" + put("_list", list)); };
  ASSERT_EQ(listed("b.csv\r\n\na.csv").size(), 2U);
  EXPECT_EQ(listed("b.csv\na.csv\n")[0].path, "b.csv");
  EXPECT_THROW(listed("\n"), Error);
}

TEST_F(Shards, HaveTheSameColumns) {
  put("1.csv", "a,b\n1,2\n");
  put("2.csv", "a,c\n3,4\n");
  EXPECT_THAT(error_of("*.csv"), HasSubstr("2.csv: its columns are others than those of"));
  EXPECT_THAT(error_of("*.csv"), HasSubstr("column 2 is 'c', wanted 'b'"));
  put("2.csv", "a\n3\n");
  EXPECT_THAT(error_of("*.csv"), HasSubstr("no column 'b'"));
  put("2.csv", "a,b,c\n3,4,5\n");
  EXPECT_THAT(error_of("*.csv"), HasSubstr("column 'c' is one too many"));
  put("2.csv", "");
  EXPECT_THAT(error_of("*.csv"), HasSubstr("2.csv: the file is empty"));
  put("2.csv", "a,b\n");
  EXPECT_THAT(error_of("*.csv"), HasSubstr("2.csv: a header but no rows"));
}

}  // namespace
}  // namespace espalier
