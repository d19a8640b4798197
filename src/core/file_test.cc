// SPDX-License-Identifier: Apache-2.0
#include "core/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "core/gzip.h"
#include "espalier/error.h"
#include "espalier/output_file.h"
#include "support/temporary_folder.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string content(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  void put(const std::string& name, std::string_view bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }

  long num_files() const {
    return std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator());
  }

  const TemporaryFolder folder_;
};

template <class Action>
void expect_error(ErrorKind kind, const std::string& part, Action&& action) {
  try {
    action();
    ADD_FAILURE() << "no error, wanted: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

std::string gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string bytes(text.size() + 1000, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

TEST_F(FileTest, ReadsWhatWasWritten) {
  const std::string bytes("a\0b\xff\n", 5);
  write_file_atomically(path("x"), bytes);
  EXPECT_EQ(read_file(path("x")).view(), bytes);
  write_file_atomically(path("empty"), "");
  EXPECT_EQ(read_file(path("empty")).view(), "");
}

TEST_F(FileTest, BytesSurviveMovesAndTheDeletionOfTheFile) {
  put("x", "hello");
  FileBytes first = read_file(path("x"));
  fs::remove(path("x"));
  FileBytes second = std::move(first);
  FileBytes third{std::string("a text in memory, long enough not to be stored inline")};
  EXPECT_EQ(second.view(), "hello");
  second = std::move(third);
  EXPECT_EQ(second.view(), "a text in memory, long enough not to be stored inline");
}

TEST_F(FileTest, ReadsPipes) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string bytes(300'000, 'x');
  std::thread writer([&] { put("pipe", bytes); });
  EXPECT_EQ(read_file(path("pipe")).view(), bytes);
  writer.join();
}

TEST_F(FileTest, ReadsFilesThatHideTheirSize) {
  EXPECT_FALSE(read_file("/proc/self/status").view().empty());
}

TEST_F(FileTest, NamesTheFileThatCannotBeRead) {
  expect_error(ErrorKind::file, path("absent") + ": No such file",
               [&] { read_file(path("absent")); });
  expect_error(ErrorKind::file, folder_.path().string() + ": Is a directory",
               [&] { read_file(folder_.path().string()); });
}

TEST_F(FileTest, ReplacesAFileAndLeavesNothingElseBehind) {
  put("x", "old and longer");
  write_file_atomically(path("x"), "new");
  EXPECT_EQ(content("x"), "new");
  EXPECT_EQ(num_files(), 1);
}

TEST_F(FileTest, WritesInTheCurrentFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  write_file_atomically("x", "here");
  fs::current_path(before);
  EXPECT_EQ(content("x"), "here");
}

TEST_F(FileTest, KeepsThePermissionsOfAnExistingFile) {
  put("x", "old");
  ASSERT_EQ(::chmod(path("x").c_str(), 0640), 0);
  write_file_atomically(path("x"), "new");
  EXPECT_EQ(mode_of(path("x")), 0640u);
}

TEST_F(FileTest, GivesANewFileThePermissionsOfTheUmask) {
  const mode_t before = ::umask(027);
  write_file_atomically(path("x"), "new");
  ::umask(before);
  EXPECT_EQ(mode_of(path("x")), 0640u);
}

TEST_F(FileTest, KeepsSymbolicLinks) {
  put("real", "old");
  fs::create_symlink("real", path("link"));
  write_file_atomically(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(content("real"), "new");
}

TEST_F(FileTest, WritesStraightToPipes) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const std::string bytes(300'000, 'x');  // more than a pipe holds: several short writes
  std::string got;
  std::thread reader([&] { got = content("pipe"); });
  write_file_atomically(path("pipe"), bytes);
  reader.join();
  EXPECT_EQ(got, bytes);
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
}

TEST_F(FileTest, FailsCleanlyWhereItCannotWrite) {
  expect_error(ErrorKind::file, path("absent/x") + ": No such file",
               [&] { write_file_atomically(path("absent/x"), "new"); });
  expect_error(ErrorKind::file, folder_.path().string() + ": Is a directory",
               [&] { write_file_atomically(folder_.path().string(), "new"); });
  expect_error(ErrorKind::file, "cannot write", [&] { write_file_atomically("", "new"); });
  EXPECT_EQ(num_files(), 0);
  expect_error(ErrorKind::file, "/dev/full: No space left",
               [&] { write_file_atomically("/dev/full", "new"); });
}

TEST_F(FileTest, DeletesTheTemporariesOfDeadProcessesOnly) {
  const pid_t dead = ::fork();
  ASSERT_GE(dead, 0);
  if (dead == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(dead, nullptr, 0), dead);
  const std::string mine = ".espalier-" + std::to_string(::getpid()) + "-0.tmp";
  const std::string theirs = ".espalier-" + std::to_string(dead) + "-0.tmp";
  const std::string living = ".espalier-" + std::to_string(::getppid()) + "-0.tmp";
  for (const std::string& name : {mine, theirs, living}) put(name, "half");
  const TemporaryEntry in_use(folder_.path().string());
  put(".espalier-x-0.tmp", "not ours");
  put("model.esp", "whole");
  remove_stale_temporaries(folder_.path().string());
  EXPECT_FALSE(fs::exists(path(mine)));  // an earlier process had our number
  EXPECT_FALSE(fs::exists(path(theirs)));
  EXPECT_EQ(content(living), "half");
  EXPECT_TRUE(fs::exists(in_use.path()));
  EXPECT_EQ(num_files(), 4);
  remove_stale_temporaries(path("absent"));
}

// In another container a process may have our number, or one that nobody has here.
TEST_F(FileTest, KeepsTheTemporariesThatAnybodyHoldsWhateverTheNumbers) {
  int opened[2], done[2];
  ASSERT_EQ(::pipe(opened) + ::pipe(done), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  char byte = 0;
  if (child == 0) {
    OutputFile file(path("model.esp"));
    const TemporaryEntry entry(folder_.path().string());
    for (const auto& each : fs::directory_iterator(folder_.path())) {
      std::string name = each.path().filename().string();
      name.replace(name.find('-') + 1, std::to_string(::getpid()).size(),
                   std::to_string(::getppid()));
      fs::rename(each.path(), path(name));
    }
    const bool told = ::write(opened[1], &byte, 1) == 1 && ::read(done[0], &byte, 1) == 1;
    ::_exit(told ? 0 : 1);
  }
  ASSERT_EQ(::read(opened[0], &byte, 1), 1);
  remove_stale_temporaries(folder_.path().string());
  EXPECT_EQ(num_files(), 2);
  ASSERT_EQ(::write(done[1], &byte, 1), 1);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  remove_stale_temporaries(folder_.path().string());
  EXPECT_EQ(num_files(), 0);
}

#ifndef ESPALIER_SANITIZED  // sanitizers need file descriptors themselves
TEST_F(FileTest, ATemporaryFolderThatCannotBeLockedIsAnErrorAndGone) {
  struct rlimit old;
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &old), 0);
  const struct rlimit none = {0, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  expect_error(ErrorKind::file, "Too many open files",
               [&] { TemporaryEntry entry(folder_.path().string()); });
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &old), 0);
  EXPECT_EQ(num_files(), 0);
}
#endif

TEST_F(FileTest, RespectsAFileThatMayNotBeWritten) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write every file";
  put("x", "old");
  ASSERT_EQ(::chmod(path("x").c_str(), 0444), 0);
  expect_error(ErrorKind::file, "Permission denied",
               [&] { write_file_atomically(path("x"), "new"); });
  EXPECT_EQ(content("x"), "old");
}

TEST(Gzip, IsRecognisedByItsFirstBytes) {
  EXPECT_TRUE(is_gzip(gzip("a")));
  EXPECT_FALSE(is_gzip("a,b"));
  EXPECT_FALSE(is_gzip(""));
}

TEST(Gzip, IsUndone) {
  const std::string long_text(3'000'000, 'x');  // expands to far more than one chunk
  for (const std::string& text : {std::string(), std::string("hello"), long_text}) {
    EXPECT_EQ(gunzip(gzip(text), "t"), text);
  }
  EXPECT_EQ(gunzip(gzip("one ") + gzip("") + gzip("two"), "t"), "one two");
}

TEST(Gzip, DamageIsAnError) {
  const std::string whole = gzip("hello, hello, hello");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    expect_error(ErrorKind::data, "t.gz: gzip data is cut short",
                 [&] { gunzip(whole.substr(0, size), "t.gz"); });
  }
  std::string altered = whole;
  altered[whole.size() - 6] ^= 1;  // a byte of the checksum
  expect_error(ErrorKind::data, "t.gz: gzip data is damaged", [&] { gunzip(altered, "t.gz"); });
  expect_error(ErrorKind::data, "gzip data is damaged", [&] { gunzip(whole + "rubbish", "t.gz"); });
}

TEST_F(FileTest, ALineLogKeepsWholeLinesAndForgetsATornOne) {
  put("log", "one\n\ntorn");
  {
    LineLog log(path("log"));
    EXPECT_EQ(log.lines(), (std::vector<std::string>{"one", ""}));
    EXPECT_EQ(content("log"), "one\n\ntorn");  // perhaps it is somebody else's file
    log.append("three");
    log.append("four");
  }
  EXPECT_EQ(content("log"), "one\n\nthree\nfour\n");
  EXPECT_EQ(LineLog(path("log")).lines().size(), 4u);
}

TEST_F(FileTest, ALineLogIsAPlainFile) {
  expect_error(ErrorKind::file, "/dev/null: not a plain file", [] { LineLog("/dev/null"); });
  expect_error(ErrorKind::file, "Is a directory", [&] { LineLog(folder_.path().string()); });
}

TEST_F(FileTest, ALineLogHasOneWriter) {
  const LineLog log(path("log"));
  expect_error(ErrorKind::argument, "another process is using it", [&] { LineLog(path("log")); });
}

TEST_F(FileTest, BytesThatComePieceByPieceAreTheWholeFile) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i * 7919 % 10007) + ',';
  const std::pair<std::string, std::string> files[] = {
      {"plain", text},
      {"empty", ""},
      {"one", "a"},
      {"whole.gz", gzip(text)},
      {"nothing.gz", gzip("")},
      {"members.gz", gzip(text) + gzip("") + gzip(text)}};
  for (const auto& [name, bytes] : files) {
    put(name, bytes);
    ByteSource source(path(name));
    std::string read;
    for (std::string more = source.next(); !more.empty(); more = source.next()) read += more;
    EXPECT_EQ(read == (is_gzip(bytes) ? gunzip(bytes, name) : bytes), true) << name;
    EXPECT_EQ(source.next(), "");
  }
}

TEST_F(FileTest, BytesOfACutGzipAreAnError) {
  const std::string whole = gzip("some text that is long enough");
  put("cut.gz", whole.substr(0, whole.size() - 3));
  ByteSource source(path("cut.gz"));
  expect_error(ErrorKind::data, "cut.gz: gzip data is cut short", [&] {
    while (!source.next().empty()) {
    }
  });
  expect_error(ErrorKind::file, "cannot read", [&] { ByteSource(path("absent")); });
}

}  // namespace
}  // namespace espalier
