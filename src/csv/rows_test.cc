// SPDX-License-Identifier: Apache-2.0
#include "csv/rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "core/random.h"
#include "espalier/csv.h"
#include "espalier/error.h"
#include "support/effort.h"

namespace espalier {
namespace {

constexpr std::size_t kOneChunk = std::size_t{1} << 40;

// Everything about a table, or the message of why there is none.
std::string read(const std::string& text, CsvOptions options, std::size_t chunk_bytes) {
  std::ostringstream out;
  try {
    const Table table = parse_csv_in_chunks(text, options, "t.csv", chunk_bytes);
    out << table.num_rows;
    for (const Column& column : table.columns) {
      out << '\n' << column.name;
      for (const float number : column.numbers) out << ' ' << number;
      for (const double number : column.exact) out << '/' << number;
      for (const std::string& category : column.categories) out << '|' << category;
      for (const std::int32_t code : column.codes) out << ' ' << code;
    }
  } catch (const Error& error) {
    out << error.what();
  }
  return out.str();
}

void expect_same_for_all_chunks(const std::string& text, const CsvOptions& options = {}) {
  CsvOptions three = options;
  three.threads = 3;
  const std::string wanted = read(text, options, kOneChunk);
  for (std::size_t chunk_bytes = 1; chunk_bytes < text.size(); chunk_bytes += 1 + chunk_bytes / 4) {
    ASSERT_EQ(read(text, three, chunk_bytes), wanted) << chunk_bytes << " bytes\n" << text;
  }
}

std::string random_cell(Random& random) {
  static const std::string kCells[] = {"1",    "-2.5",      "x",     "y z",        "",
                                       "NA",   "6\" pipe",  "\"q\"", "\"a\nb,\"",  "3",
                                       "\"\"", "\"1\r\n\"", " 7 ",   "\"\"\"\n\"", "\"\n\n1,2\n\""};
  return kCells[random.below(std::size(kCells))];
}

TEST(CsvRows, ChunksDoNotChangeWhatIsRead) {
  Random random(1);
  for (int i = 0; i < effort(300, 60); ++i) {
    const std::size_t width = 1 + random.below(3);
    const char* const line_break = random.below(2) == 0 ? "\n" : "\r\n";
    std::string text;
    for (std::size_t c = 0; c < width; ++c) text += (c > 0 ? ",c" : "c") + std::to_string(c);
    for (std::size_t row = 0; row < 20; ++row) {
      text += line_break;
      for (std::size_t c = 0; c < width; ++c) text += (c > 0 ? "," : "") + random_cell(random);
    }
    expect_same_for_all_chunks(text);
  }
}

TEST(CsvRows, ChunksDoNotChangeWhichColumnsKeepDoubles) {
  Random random(2);
  for (int i = 0; i < effort(100, 20); ++i) {
    std::string text = "a,b\n";
    const std::uint64_t distinct = 1 + random.below(4);
    for (int row = 0; row < 30; ++row)
      text += fmt::format("{},{}.1\n", 16777216 + random.below(distinct), random.below(distinct));
    expect_same_for_all_chunks(text);
  }
}

TEST(CsvRows, ChunksDoNotChangeErrors) {
  const std::string rows = "a,b\n1,2\n\"x\n\",3\n4,5\n\"\n\n\",6\n";
  const CsvOptions numbers = {.types = {{"b", ColumnType::number}}};
  expect_same_for_all_chunks(rows + "7\n8,9,10\n");
  expect_same_for_all_chunks(rows + "\n  \n8,9\n");
  expect_same_for_all_chunks(rows + "7,word\n8,other\n", numbers);
  expect_same_for_all_chunks(rows + "7,\"open\n8,9\n10,11\n");
  expect_same_for_all_chunks(rows + "7,\"x\" y\n8,9\n");
  EXPECT_EQ(read(rows + "7,word\n8,9,10\n", numbers, 4),
            "t.csv:9: column 'b': 'word' is not a number");
}

TEST(CsvRows, WordsAreNumberedByFirstAppearanceAcrossChunks) {
  const std::string text = "a,b\n1,z\n2,NA\n3,y\n4,z\n5,x\n6,y\nlate,w\n";
  for (const std::size_t chunk_bytes : {std::size_t{1}, std::size_t{9}, kOneChunk}) {
    EXPECT_EQ(read(text, {}, chunk_bytes),
              "7\na|1|2|3|4|5|6|late 0 1 2 3 4 5 6\nb|z|y|x|w 0 -1 1 0 2 1 3");
  }
}

TEST(CsvRows, AQuoteMayHoldAllOfTheText) {
  std::string text = "a,b\n1,\"";
  for (int i = 0; i < 200; ++i) text += "2,3\n";
  expect_same_for_all_chunks(text + "\"\n4,5\n");
  expect_same_for_all_chunks(text);
}

}  // namespace
}  // namespace espalier
