// SPDX-License-Identifier: Apache-2.0
// The law of table/shared_csv.h: what ranks read together is the table that one would read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "core/random.h"
#include "espalier/csv.h"
#include "espalier/simulate.h"
#include "support/effort.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/thread_ranks.h"
#include "table/shared_csv.h"
#include "train/train_on.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// Cells of every kind: rows of very different lengths, line breaks and delimiters in quotes,
// columns that show their first word late, and numbers that only doubles tell apart.
std::string text_of(int rows, int first, const char* line_break) {
  std::string text = "a,word,late,\"far\",same" + std::string(line_break);
  Random random(static_cast<std::uint64_t>(rows + first));
  for (int row = first; row < first + rows; ++row) {
    text += std::to_string(row % 13) + (row % 5 == 0 ? ".25," : ",");
    if (row % 11 == 0) {
      text += "\"a \"\"quoted\"\" word," + std::string(random.below(60), 'x') + "\n\r\n,,\"";
    } else {
      text += row % 7 == 0
                  ? ""
                  : "w" + std::to_string(random.below(9) * static_cast<unsigned>(row) / 40);
    }
    text += row == 150 ? ",late" : row % 3 == 0 ? ",?" : "," + std::to_string(row);
    text += "," + std::to_string(1e9 + row) + ".5,1000000000.25" + line_break;
  }
  return text;
}

template <class T>
std::vector<T> vector_of(std::span<const T> cells) {
  return {cells.begin(), cells.end()};
}

void expect_same(const Table& found, const Table& wanted, const std::string& what) {
  EXPECT_EQ(found.num_rows, wanted.num_rows) << what;
  ASSERT_EQ(found.columns.size(), wanted.columns.size()) << what;
  for (std::size_t c = 0; c < wanted.columns.size(); ++c) {
    const Column &own = found.columns[c], &other = wanted.columns[c];
    const std::string place = what + ", column " + other.name;
    EXPECT_EQ(own.name, other.name) << place;
    EXPECT_EQ(own.type, other.type) << place;
    EXPECT_EQ(own.categories, other.categories) << place;
    EXPECT_EQ(vector_of(own.category_codes()), vector_of(other.category_codes())) << place;
    EXPECT_EQ(vector_of(own.doubles()), vector_of(other.doubles())) << place;
    for (std::size_t row = 0; row < own.values().size(); ++row) {
      const float a = own.values()[row], b = other.values()[row];
      EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << place << ", row " << row;
    }
    EXPECT_EQ(own.values().size(), other.values().size()) << place;
  }
}

void expect_shares(const std::string& path, const std::filesystem::path& scratch) {
  const Table all = read_csv(path);
  for (const int size : {1, 2, 3, 8, 12}) {
    for (const std::size_t piece_bytes : {std::size_t{0}, std::size_t{100}}) {
      for (const bool on_disk : {false, true}) {
        on_ranks(size, [&](Ranks& ranks) {
          const std::string what = path + ", " + std::to_string(ranks.rank()) + " of " +
                                   std::to_string(size) + (on_disk ? " on disk" : "");
          const auto folder = scratch / std::to_string(ranks.rank());
          std::filesystem::create_directories(folder);
          const DiskFolder to{on_disk ? folder.string() : ""};
          const auto share = read_csv_of_rank(path, {}, to, ranks, piece_bytes, 8);
          ASSERT_TRUE(share) << what;
          const auto [first, last] = rows_of_rank(ranks, all.num_rows);
          EXPECT_EQ(share->first_row, first) << what;
          expect_same(*share, take_rows(all, rows_between(first, last)), what);
        });
      }
    }
  }
}

TEST(SharedReading, GivesEachRankItsRowsOfTheTableThatOneWouldRead) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "parts");
  for (const char* const line_break : {"\n", "\r\n"}) {
    write(folder / "one.csv", text_of(200, 0, line_break) + line_break + " " + line_break);
    write(folder / "parts" / "1.csv", text_of(20, 0, line_break));
    write(folder / "parts" / "2.csv", text_of(150, 20, line_break) + line_break);
    write(folder / "parts" / "3.csv", text_of(1, 170, line_break));
    write(folder / "parts" / "4.csv", text_of(29, 171, line_break));
    expect_shares((folder / "one.csv").string(), folder / "scratch");
    expect_shares((folder / "parts").string(), folder / "scratch");
  }
  std::string long_cell = "x,y\n1,\"";
  for (int line = 0; line < 500; ++line) long_cell += "1,2\n";
  long_cell += "\"\n";
  for (int row = 0; row < 20; ++row) long_cell += std::to_string(row) + ",w\n";
  write(folder / "long.csv", long_cell);
  expect_shares((folder / "long.csv").string(), folder / "scratch");
}

TEST(SharedReading, NothingIsDividedThatIsSmallOrCannotBe) {
  const TemporaryFolder folder;
  write(folder / "t.csv", text_of(50, 0, "\n"));
  write(folder / "packed", "\x1f\x8b rest");
  on_ranks(2, [&](Ranks& ranks) {
    const auto read = [&](const char* name, std::size_t many_rows) {
      return read_csv_of_rank((folder / name).string(), {}, {}, ranks, 0, many_rows).has_value();
    };
    EXPECT_TRUE(read("t.csv", 50));
    EXPECT_FALSE(read("t.csv", 51));
    EXPECT_FALSE(read("packed", 1));
  });
}

TEST(SharedReading, ErrorsNameTheLineOfTheFile) {
  const TemporaryFolder folder;
  const std::string path = (folder / "t.csv").string();
  std::string text = text_of(200, 0, "\n");
  write(path, text + "1,2\n");
  const std::string alone = error_of([&] { read_csv(path); });
  EXPECT_THAT(alone, HasSubstr("2 cells, wanted 5 as in the header"));
  const auto error = [&] {
    return error_of(
        [&] { on_ranks(3, [&](Ranks& ranks) { read_csv_of_rank(path, {}, {}, ranks, 0, 8); }); });
  };
  EXPECT_EQ(error(), alone);
  write(path, text.insert(text.size() / 3, "\n\n"));
  EXPECT_NE(error(), "no error");
}

TEST(SharedReading, AFileWithOtherColumnsIsNamed) {
  const TemporaryFolder folder;
  write(folder / "1.csv", "a,b\n1,2\n1,2\n1,2\n1,2\n");
  for (const char* const other : {"a,c\n1,2\n1,2\n", "a\n1\n2\n", "b,a\n1,2\n1,2\n"}) {
    write(folder / "2.csv", other);
    const std::string path = (folder / "*.csv").string();
    EXPECT_THAT(error_of([&] {
                  on_ranks(2, [&](Ranks& ranks) { read_csv_of_rank(path, {}, {}, ranks, 0, 1); });
                }),
                error_of([&] { read_csv(path); }));
  }
}

TEST(SharedReading, AFolderKeepsTheRowsOfEachRank) {
  const TemporaryFolder folder;
  const std::string path = (folder / "t.csv").string();
  write(path, text_of(100, 0, "\n"));
  const auto times = [&] {
    std::vector<std::filesystem::file_time_type> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "cache"))
      found.push_back(entry.last_write_time());
    std::ranges::sort(found);
    return found;
  };
  const auto read = [&] {
    on_ranks(2, [&](Ranks& ranks) {
      const auto own = folder / "cache" / std::to_string(ranks.rank());
      std::filesystem::create_directories(own);
      const auto share = read_csv_of_rank(path, {}, {own.string(), true}, ranks, 0, 8);
      const auto [first, last] = rows_of_rank(ranks, 100);
      expect_same(*share, take_rows(read_csv(path), rows_between(first, last)), "kept");
    });
  };
  read();
  const auto kept = times();
  read();
  EXPECT_EQ(times(), kept);
  write(path, text_of(100, 1, "\n"));
  read();
  EXPECT_NE(times(), kept);
}

TEST(SharedReading, TrainsTheModelOfOneProcess) {
  const TemporaryFolder folder;
  const std::string path = (folder / "t.csv").string();
  const TrainOptions options = {.label = "default",
                                .increasing = {"debt_ratio"},
                                .architecture = "cal(4) lin(1)",
                                .epochs = 2,
                                .batch_size = 512,
                                .threads = 1};
  std::string text;
  write_csv(simulate({.rows = 700, .numbers = 4, .categories = 2}),
            [&](std::string_view piece) { text += piece; });
  write(path, text);
  const std::string alone =
      train_on({.table = read_csv(path), .many_rows = 64}, options, {}).model.to_bytes();
  for (const int size : {2, 3}) {
    on_ranks(size, [&](Ranks& ranks) {
      Table share = *read_csv_of_rank(path, {}, {}, ranks, 1000, 64);
      const TrainResult result =
          train_on({.table = share, .owned = &share, .many_rows = 64}, options, {.ranks = &ranks});
      EXPECT_EQ(result.model.to_bytes() == alone, true) << size;
    });
  }
}

}  // namespace
}  // namespace espalier
