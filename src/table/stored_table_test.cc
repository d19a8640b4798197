// SPDX-License-Identifier: Apache-2.0
#include "table/stored_table.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/large_vector.h"
#include "core/random.h"
#include "espalier/disk_table.h"
#include "espalier/error.h"
#include "support/effort.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string text_of(const Table& table) {
  std::string text = fmt::format("{} rows", table.num_rows);
  for (const Column& column : table.columns) {
    text += fmt::format("\n{} {}", column.name, static_cast<int>(column.type));
    for (const float number : column.values()) text += fmt::format(" {}", number);
    for (const double number : column.doubles()) text += fmt::format("/{}", number);
    for (const std::string& category : column.categories) text += '|' + category;
    for (const std::int32_t code : column.category_codes()) text += fmt::format(" {}", code);
  }
  return text;
}

class StoredTables : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

  // Of pieces of so many bytes.
  Table stored(const std::vector<Shard>& shards, const CsvOptions& options, std::size_t bytes) {
    fs::remove_all(path("store"));
    fs::create_directory(path("store"));
    store_table(shards, options, path("store"), bytes);
    return open_stored_table(path("store"));
  }

  const TemporaryFolder folder_;
};

std::string random_rows(Random& random, int rows) {
  static const std::string kRare[] = {"word", "\"two\nlines\"", "", "1e39"};
  std::string text;
  for (int row = 0; row < rows; ++row) {
    text +=
        fmt::format("{},{},{}.1,", random.below(40), 16777216 + random.below(3), random.below(3));
    text += random.below(25) == 0 ? kRare[random.below(3)] : std::to_string(random.below(9));
    text += fmt::format(",{}\n", random.below(3) == 0 ? "b" : "a");
  }
  return text;
}

TEST_F(StoredTables, AreTheTablesOfMemory) {
  Random random(1);
  for (int i = 0; i < effort(5, 2); ++i) {
    const std::string head = "a,big,tenth,late,word\n";
    const std::string first = random_rows(random, 20), second = random_rows(random, 20);
    const std::string whole = put("whole.csv", head + first + second);
    const std::vector<Shard> shards = {{put("1.csv", head + first), "1.csv"},
                                       {put("2.csv", head + second), "2.csv"}};
    const CsvOptions options = {.column_missing = {{"a", {"7"}}}};
    const std::string wanted = text_of(read_csv(whole, options));
    for (const std::size_t bytes : {40, 500, 1 << 20}) {
      EXPECT_EQ(text_of(stored({{whole, "whole.csv"}}, options, bytes)), wanted) << bytes;
      EXPECT_EQ(text_of(stored(shards, options, bytes)), wanted) << bytes;
      EXPECT_EQ(text_of(read_shards(shards, options, bytes)), wanted) << bytes;
    }
  }
}

TEST_F(StoredTables, KeepDoublesThatOnlyTheFirstPieceNeeds) {
  std::string text = "first,never\n16777217,0.1\n";
  for (int row = 0; row < 50; ++row) text += fmt::format("16777216,{}\n", row);
  const std::string table = put("t.csv", text);
  const std::string wanted = text_of(read_csv(table));
  EXPECT_THAT(wanted, HasSubstr("/16777217"));
  for (const std::size_t bytes : {30, 200})
    EXPECT_EQ(text_of(stored({{table, "t.csv"}}, {}, bytes)), wanted) << bytes;
}

// Rows as a table, whose words have numbers of their own.
Table rows_of(const Table& table, std::size_t begin, std::size_t end) {
  std::vector<std::uint64_t> rows;
  for (std::size_t row = begin; row < end; ++row) rows.push_back(row);
  Table piece = take_rows(table, rows);
  for (Column& column : piece.columns) {
    if (!floats_blur(column.numbers)) column.exact.clear();
    std::ranges::reverse(column.categories);
    const auto last = static_cast<std::int32_t>(column.categories.size()) - 1;
    for (std::int32_t& code : column.codes) {
      if (code != kMissingCode) code = last - code;
    }
  }
  return piece;
}

// A piece has all words of the table, in reverse, so that they come in another order.
std::string text_without_words(Table table) {
  for (Column& column : table.columns) {
    std::vector<std::string> cells;
    for (const std::int32_t code : column.category_codes())
      cells.push_back(code == kMissingCode ? ""
                                           : column.categories[static_cast<std::size_t>(code)]);
    column.codes.clear();
    column.borrowed_codes = {};
    column.categories = cells;
  }
  return text_of(table);
}

TEST_F(StoredTables, AreTheSameOfAnyPieces) {
  Random random(2);
  fs::create_directory(path("to"));
  for (int i = 0; i < effort(10, 3); ++i) {
    const Table whole = parse_csv("a,big,tenth,late,word\n" + random_rows(random, 40), {}, "whole");
    const std::string wanted = text_without_words(whole);
    for (const std::string& folder : {path("to"), std::string()}) {
      DiskTableWriter writer("whole", {folder});
      for (std::size_t begin = 0, end = 0; begin < whole.num_rows; begin = end) {
        end = std::min(whole.num_rows, begin + 1 + random.below(15));
        writer.add(rows_of(whole, begin, end));
      }
      const Table found = writer.finish();
      EXPECT_EQ(found.name, "whole");
      EXPECT_EQ(text_without_words(found), wanted) << folder;
    }
    EXPECT_TRUE(fs::is_empty(path("to")));
  }
}

TEST_F(StoredTables, RefusePiecesOfOtherColumns) {
  const Table first = parse_csv("a,b\n1,x\n", {}, "first");
  fs::create_directory(path("to"));
  const auto error_with = [&](const std::string& second) {
    DiskTableWriter writer("t", {path("to"), true});
    writer.add(first);
    return error_of([&] { writer.add(parse_csv(second, {}, "second")); });
  };
  EXPECT_THAT(error_with("a,b\n1,2\n"), HasSubstr("second: its columns are others"));
  EXPECT_THAT(error_with("a,b\n1,2\n"), HasSubstr("'b' has numbers, wanted words"));
  EXPECT_THAT(error_with("a,c\n1,x\n"), HasSubstr("column 2 is 'c', wanted 'b'"));
  EXPECT_THAT(error_with("a\n1\n"), HasSubstr("1 columns, wanted 2"));
  EXPECT_TRUE(fs::is_empty(path("to")));
}

TEST_F(StoredTables, AreKeptUnderTheirNameForTheirSource) {
  const Table table = parse_csv("a,b\n1,x\n2,y\n", {}, "t");
  fs::create_directory(path("to"));
  EXPECT_FALSE(find_disk_table("t", path("to"), "source"));
  {
    DiskTableWriter writer("t", {path("to"), true}, "source");
    writer.add(table);
    EXPECT_EQ(text_of(writer.finish()), text_of(table));
  }
  EXPECT_FALSE(find_disk_table("t", path("to"), "another"));
  EXPECT_FALSE(find_disk_table("u", path("to"), "source"));
  const auto found = find_disk_table("t", path("to"), "source");
  ASSERT_TRUE(found);
  EXPECT_EQ(text_of(*found), text_of(table));
}

TEST_F(StoredTables, AreFoundAgainUnlessTheSourceHasChanged) {
  const std::string table = put("t.csv", "a,b\n1,x\n2,y\n");
  fs::create_directory(path("cache"));
  const DiskFolder cache{path("cache"), true};
  const auto entries = [&] {
    return std::distance(fs::directory_iterator(path("cache")), fs::directory_iterator());
  };
  const std::string first = text_of(read_csv_to_disk(table, {}, cache));
  EXPECT_EQ(entries(), 1);
  const auto entry = fs::directory_iterator(path("cache"))->path();
  const auto written = fs::last_write_time(entry / "table");
  EXPECT_EQ(text_of(read_csv_to_disk(table, {}, cache)), first);
  EXPECT_EQ(fs::last_write_time(entry / "table"), written);  // as it was

  put("t.csv", "a,b\n1,x\n2,y\n3,z\n");
  EXPECT_EQ(read_csv_to_disk(table, {}, cache).num_rows, 3U);
  EXPECT_EQ(read_csv_to_disk(table, {.drop = {"b"}}, cache).columns.size(), 1U);
  EXPECT_EQ(entries(), 1);
  std::ofstream(entry / "0.numbers", std::ios::binary | std::ios::in) << "damage";
  EXPECT_EQ(text_of(read_csv_to_disk(table, {.drop = {"b"}}, cache)),
            text_of(read_csv(table, {.drop = {"b"}})));
}

// Rewrites a file with other bytes of the same size, in one of the ways that programs do, and sets
// back whatever can be set back.
void change_secretly(const std::string& file, const std::string& text, Random& random) {
  struct stat status;
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  ASSERT_EQ(static_cast<std::size_t>(status.st_size), text.size());
  const bool in_place = random.below(2) == 0;
  const std::string written = in_place ? file : file + ".new";
  std::ofstream(written, in_place ? std::ios::in | std::ios::out : std::ios::out) << text;
  const timespec times[] = {status.st_atim, status.st_mtim};
  if (random.below(3) > 0) {
    ASSERT_EQ(::utimensat(AT_FDCWD, written.c_str(), times, 0), 0);
  }
  if (!in_place) fs::rename(written, file);
}

TEST_F(StoredTables, AreReadAgainAfterEveryChangeOfAFile) {
  Random random(5);
  fs::create_directory(path("cache"));
  fs::create_directory(path("parts"));
  const auto rows = [&] { return fmt::format("a,b\n{},{}\n", random.below(9), random.below(9)); };
  const std::string parts[] = {put("parts/1.csv", rows()), put("parts/2.csv", rows())};
  for (int i = 0; i < effort(40, 10); ++i) {
    change_secretly(parts[random.below(2)], rows(), random);
    EXPECT_EQ(text_of(read_csv_to_disk(path("parts"), {}, {path("cache"), true})),
              text_of(read_csv(path("parts"))))
        << i;
  }
}

// Runs the same in some processes at once, each with a seed of its own, and counts those that fail.
int failures_of_processes(int processes, const std::function<bool(std::uint64_t)>& holds) {
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(holds(static_cast<std::uint64_t>(p)) ? 0 : 1);
    children.push_back(child);
  }
  int failures = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    failures += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
  }
  return failures;
}

TEST_F(StoredTables, AreThoseOfTheirOptionsWhileProcessesShareAFolder) {
  const std::string table = put("t.csv", "a,b,c\n1,x,3\n2,y,4\n");
  fs::create_directory(path("cache"));
  const CsvOptions options[] = {
      {.threads = 1}, {.drop = {"b"}, .threads = 1}, {.missing = {"3"}, .threads = 1}};
  std::vector<std::string> wanted;
  for (const CsvOptions& each : options) wanted.push_back(text_of(read_csv(table, each)));
  const auto holds = [&](std::uint64_t seed) {
    Random random(seed);
    try {
      for (int i = 0; i < effort(150, 20); ++i) {
        const std::size_t own = random.below(std::size(options));
        const Table read = read_csv_to_disk(table, options[own], {path("cache"), true});
        if (text_of(read) != wanted[own]) return false;
        DiskTableWriter writer("w", {path("cache"), true}, std::to_string(own));
        writer.add(parse_csv(fmt::format("a\n{}\n", own)));
        if (writer.finish().columns[0].values()[0] != static_cast<float>(own)) return false;
        const auto found = find_disk_table("w", path("cache"), std::to_string(own));
        if (found && found->columns[0].values()[0] != static_cast<float>(own)) return false;
      }
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return false;
    }
    return true;
  };
  EXPECT_EQ(failures_of_processes(6, holds), 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(path("cache")), fs::directory_iterator()), 2);
}

TEST_F(StoredTables, AreThoseOfTheirOptionsWhileThreadsShareAFolder) {
  const std::string table = put("t.csv", "a,b\n1,x\n2,y\n");
  fs::create_directory(path("cache"));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const CsvOptions options{.drop = {t % 2 == 0 ? "a" : "b"}, .threads = 1};
      const std::string wanted = text_of(read_csv(table, options));
      for (int i = 0; i < effort(100, 20); ++i)
        wrong += text_of(read_csv_to_disk(table, options, {path("cache"), true})) == wanted ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(StoredTables, LeaveNothingThatNobodyKeeps) {
  const std::string table = put("t.csv", "a,b\n1,x\n2,y\n"), bad = put("bad.csv", "a,b\n1,x\n2\n");
  fs::create_directory(path("cache"));
  const Table read = read_csv_to_disk(table, {}, {path("cache")});
  EXPECT_TRUE(fs::is_empty(path("cache")));
  EXPECT_EQ(text_of(read), text_of(read_csv(table)));
  EXPECT_THAT(error_of([&] {
                read_csv_to_disk(bad, {}, {path("cache"), true});
              }),
              HasSubstr("bad.csv:3: 1 cells, wanted 2"));
  EXPECT_TRUE(fs::is_empty(path("cache")));
}

TEST_F(StoredTables, NameTheShardThatCannotBeUsed) {
  fs::create_directory(path("cache"));
  fs::create_directory(path("parts"));
  put("parts/1.csv", "a,b\n1,2\n");
  const auto error_with = [&](const std::string& second) {
    put("parts/2.csv", second);
    const std::string error = error_of([&] {
      read_csv_to_disk(path("parts"), {}, {path("cache"), true});
    });
    EXPECT_TRUE(fs::is_empty(path("cache"))) << second;
    EXPECT_THAT(error, HasSubstr("parts/2.csv")) << second;
    return error;
  };
  EXPECT_THAT(error_with("a,c\n1,2\n"), HasSubstr("column 2 is 'c', wanted 'b'"));
  EXPECT_THAT(error_with("a\n1\n"), HasSubstr("no column 'b'"));
  EXPECT_THAT(error_with("a,b,c\n1,2,3\n"), HasSubstr("'c' is one too many"));
  EXPECT_THAT(error_with("a,b\n"), HasSubstr("no rows"));
  EXPECT_THAT(error_with(""), HasSubstr("empty"));
}

TEST_F(StoredTables, RefuseWhatIsDamaged) {
  const std::string table = put("t.csv", "a,b\n1,x\n2,y\n");
  stored({{table, "t.csv"}}, {}, 0);
  const std::string bytes = [&] {
    std::ifstream in(path("store/table"), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 1;
    EXPECT_NE(error_of([&] { parse_stored_table(damaged, "t"); }), "no error");
    EXPECT_NE(error_of([&] { parse_stored_table(bytes.substr(0, i), "t"); }), "no error");
  }
  EXPECT_EQ(to_bytes(parse_stored_table(bytes, "t")), bytes);
  fs::resize_file(path("store/0.numbers"), 4);
  EXPECT_THAT(error_of([&] { open_stored_table(path("store")); }), HasSubstr("another size"));
}

TEST(LargeVectors, AreTheSameInFilesAsInMemory) {
  const TemporaryFolder folder;
  LargeVector<int> in_memory, moved;
  for (int i = 0; i < 1000; ++i) in_memory.push_back(i);
  {
    const SpillTo spill(folder.path().string(), 64);
    LargeVector<int> in_files;
    for (int i = 0; i < 1000; ++i) in_files.push_back(i);
    EXPECT_EQ(in_files, in_memory);
    moved = std::move(in_files);
    EXPECT_TRUE(fs::is_empty(folder.path()));
  }
  EXPECT_EQ(moved, in_memory);
  moved.push_back(1);  // in memory from now on
  EXPECT_EQ(moved.size(), 1001U);
}

TEST(LargeVectors, SayWhenTheyCannotBeWritten) {
  const SpillTo spill("/nowhere", 64);
  EXPECT_THAT(error_of([] { LargeVector<int> numbers(100); }), HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace espalier
