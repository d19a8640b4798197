// SPDX-License-Identifier: Apache-2.0
// Saving a model, writing a checkpoint and keeping results, with every system call of it failing in
// turn (fault.cc), with the program killed at each of them, and with no room for the file.
#include <cerrno>
#include <optional>

#include "cli_fixture.h"
#include "support/effort.h"

namespace espalier {
namespace {

using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kFunctions[] = {"open", "write", "fsync", "close", "fchmod", "rename"};

class Fault : public Cli {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer wants to be the first library, and so does fault.cc";
#endif
    must("simulate --rows 60 -o loans.csv");
    must(train_args(1) + "-o old.esp");
    must(train_args(2) + "-o new.esp");
    old_ = read(path("old.esp"));
    new_ = read(path("new.esp"));
    ASSERT_NE(old_, new_);
  }

  // 48 rows to train on are 2 steps per epoch.
  static std::string train_args(int seed) {
    return fmt::format(
        "train loans.csv --label default --architecture 'cal(2) lin(1)' --epochs 1 --threads 1 "
        "--batch-size 32 --seed {} ",
        seed);
  }

  static int count(const std::string& text, const std::string& part) {
    int times = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++times;
    return times;
  }

  // Runs the program with the calls first to last of a function spoilt below a folder; nothing if
  // it does not make so many.
  std::optional<Result> run_spoilt(const std::string& function, int first, int last,
                                   const std::string& how, const std::string& folder,
                                   const std::string& args) const {
    const fs::path mark = root_ / "mark";
    fs::remove(mark);
    const Result result = shell(fmt::format(
        "ESPALIER_FAULT='{} {} {} {} {} {}' LD_PRELOAD='" ESPALIER_FAULT_LIBRARY
        "' '" ESPALIER_BINARY "' {}",
        function, first, last, how, fs::canonical(path(folder)).string(), mark.string(), args));
    if (!fs::exists(mark)) return std::nullopt;
    return result;
  }

  std::string old_, new_;  // what training with seeds 1 and 2 gives
};

TEST_F(Fault, SavingLeavesTheOldFileOrTheNewOne) {
  fs::create_directory(path("out"));
  const std::vector<std::string> errors = {fmt::format("{}", EIO), fmt::format("{}", ENOSPC)};
  int failed = 0, saved = 0;
  for (const std::string function : kFunctions) {
    for (const std::string& how : errors) {
      int call = 1;
      for (;; ++call) {
        write("out/model.esp", old_);
        const auto result =
            run_spoilt(function, call, call, how, "out", train_args(2) + "-o out/model.esp");
        if (!result) break;
        SCOPED_TRACE(fmt::format("{} {}, errno {}: {}", function, call, how, result->err));
        EXPECT_THAT(result->exit, AnyOf(0, 1));
        EXPECT_EQ(read(path("out/model.esp")), result->exit == 0 ? new_ : old_);
        EXPECT_EQ(files("out"), std::set<std::string>{"model.esp"});
        if (result->exit != 0) {
          EXPECT_THAT(result->err, HasSubstr("cannot write"));
        }
        ++(result->exit == 0 ? saved : failed);
      }
      EXPECT_GT(call, 1) << function << " was never called";
    }
  }
  RecordProperty("failed", failed);
  RecordProperty("saved", saved);
  EXPECT_GE(failed, 12);  // each function at least once, with both errors
  EXPECT_GE(saved, 1);    // where only the sync of the folder failed
}

TEST_F(Fault, AFirstModelIsThereOrNot) {
  fs::create_directory(path("out"));
  for (const std::string function : {"open", "write", "fsync", "close", "rename"}) {
    for (int call = 1;; ++call) {
      fs::remove(path("out/model.esp"));
      const auto result = run_spoilt(function, call, call, fmt::format("{}", ENOSPC), "out",
                                     train_args(2) + "-o out/model.esp");
      if (!result) break;
      SCOPED_TRACE(fmt::format("{} {}: {}", function, call, result->err));
      if (result->exit == 0) {
        EXPECT_EQ(read(path("out/model.esp")), new_);
      }
      if (result->exit != 0) {
        EXPECT_THAT(files("out"), IsEmpty());
      }
    }
  }
}

TEST_F(Fault, ShortWritesAndInterruptedCallsAreRepeated) {
  fs::create_directory(path("out"));
  const std::string interrupted = fmt::format("{}", EINTR);
  for (const auto& [function, how] :
       std::vector<std::pair<std::string, std::string>>{{"write", "short"},
                                                        {"open", interrupted},
                                                        {"write", interrupted},
                                                        {"fsync", interrupted}}) {
    write("out/model.esp", old_);
    // A dozen calls in a row, then it works.
    const auto result = run_spoilt(function, 1, 12, how, "out", train_args(2) + "-o out/model.esp");
    ASSERT_TRUE(result) << function;
    EXPECT_EQ(result->exit, 0) << function << ": " << result->err;
    EXPECT_EQ(read(path("out/model.esp")), new_);
    EXPECT_EQ(files("out"), std::set<std::string>{"model.esp"});
  }
}

TEST_F(Fault, AFailedCheckpointIsAWarningAndTheModelIsTheSame) {
  fs::create_directory(path("run"));
  const std::string args = train_args(2) + "-o model.esp --checkpoint run --checkpoint-seconds 0";
  int warned = 0;
  for (const std::string function : kFunctions) {
    for (int call = 1;; ++call) {
      fs::remove(path("model.esp"));
      const auto result = run_spoilt(function, call, 1000, fmt::format("{}", ENOSPC), "run", args);
      if (!result) break;
      SCOPED_TRACE(fmt::format("{} from {} on: {}", function, call, result->err));
      EXPECT_EQ(result->exit, 0);
      EXPECT_EQ(read(path("model.esp")), new_);
      EXPECT_THAT(files("run"), IsEmpty());
      const int warnings = count(result->err, "no checkpoint");
      EXPECT_LE(warnings, 1);
      warned += warnings;
    }
  }
  RecordProperty("warned", warned);
  EXPECT_GE(warned, 10);
}

// Saving fails as well, so that the checkpoint stays to be looked at.
TEST_F(Fault, AFailedCheckpointLeavesTheOlderOne) {
  const std::string args = train_args(2) + "--checkpoint run --checkpoint-seconds 0 --resume ";
  int resumed = 0;
  for (const std::string function : kFunctions) {
    for (int call = 1;; ++call) {
      fs::remove_all(path("run"));
      fs::create_directory(path("run"));
      fs::remove(path("model.esp"));
      const auto result =
          run_spoilt(function, call, 1000, fmt::format("{}", EIO), "run", args + "-o /dev/full");
      if (!result) break;
      SCOPED_TRACE(fmt::format("{} from {} on: {}", function, call, result->err));
      EXPECT_EQ(result->exit, 1);
      EXPECT_THAT(files("run"), AnyOf(IsEmpty(), std::set<std::string>{"checkpoint"}));
      const Result again = run(args + "-o model.esp");
      EXPECT_EQ(again.exit, 0) << again.err;
      EXPECT_EQ(read(path("model.esp")), new_);
      if (again.err.find("resuming") != std::string::npos) ++resumed;
    }
  }
  RecordProperty("resumed", resumed);
  EXPECT_GE(resumed, 8);
}

TEST_F(Fault, KilledAtAnyCallARunResumesToTheSameModel) {
  const std::string args =
      train_args(2) + "--checkpoint run --checkpoint-seconds 0 --resume -o model.esp";
  int kills = 0;
  for (const std::string function : kFunctions) {
    for (int call = 1;; ++call) {
      fs::remove_all(path("run"));
      fs::remove(path("model.esp"));
      const auto result = run_spoilt(function, call, call, "kill", ".", args);
      if (!result) break;
      ++kills;
      SCOPED_TRACE(fmt::format("killed at {} {}", function, call));
      if (fs::exists(path("model.esp"))) {
        EXPECT_EQ(read(path("model.esp")), new_);
      }
      const Result again = run(args);
      EXPECT_EQ(again.exit, 0) << again.err;
      EXPECT_EQ(read(path("model.esp")), new_);
      EXPECT_THAT(files("run"), IsEmpty());
    }
  }
  RecordProperty("kills", kills);
  EXPECT_GE(kills, 20);
}

// No library needed for these, so they also run under the sanitizers.
using NoRoom = Cli;

TEST_F(NoRoom, ForTheModelKeepsTheOldOne) {
  make_model();
  const std::string before = read(path("loans.esp"));
  const Result result =
      shell("ulimit -f 4; '" ESPALIER_BINARY "' train loans.csv -o loans.esp --epochs 1 --seed 2" +
            kMonotone);
  EXPECT_EQ(result.exit, 1);
  EXPECT_THAT(result.err, HasSubstr("cannot write"));
  EXPECT_THAT(result.err, HasSubstr("File too large"));
  EXPECT_EQ(read(path("loans.esp")), before);
  EXPECT_EQ(files(), (std::set<std::string>{"loans.csv", "loans.esp"}));
}

TEST_F(NoRoom, ForTheCheckpointIsAWarning) {
  make_table();
  const std::string args = "train loans.csv --epochs 2 --trees 0" + kMonotone + " -o ";
  must(args + "loans.esp");
  const auto blocks = read(path("loans.esp")).size() / 512 + 1;  // a checkpoint is larger
  const Result result = shell(fmt::format("ulimit -f {}; '" ESPALIER_BINARY
                                          "' {} --checkpoint run --checkpoint-seconds 0",
                                          blocks, args + "limited.esp"));
  EXPECT_EQ(result.exit, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("warning: no checkpoint: cannot write"));
  EXPECT_EQ(read(path("limited.esp")), read(path("loans.esp")));
  EXPECT_THAT(files("run"), IsEmpty());
}

TEST_F(Fault, AResultThatCannotBeWrittenIsLostAloneAndLeavesWholeLines) {
  fs::create_directory(path("out"));
  const std::string args =
      "tune loans.csv --label default --architecture 'cal(2) lin(1)' --epochs 3 --trials 4 "
      "--threads 1 -o best.esp --results out/runs.jsonl";
  const Result undisturbed = run(args);
  ASSERT_EQ(undisturbed.exit, 0) << undisturbed.err;
  const std::size_t num_lines = lines_of(read(path("out/runs.jsonl"))).size();
  for (const auto& [function, how] : {std::pair{"write", ENOSPC}, {"fsync", EIO}}) {
    for (int call = 1; call < 5; ++call) {
      fs::remove(path("out/runs.jsonl"));
      const auto result = run_spoilt(function, call, call, fmt::format("{}", how), "out", args);
      ASSERT_TRUE(result);
      SCOPED_TRACE(fmt::format("{} {}: {}", function, call, result->err));
      const std::string text = read(path("out/runs.jsonl"));
      if (result->exit != 0) {  // nothing was lost: the search has not begun
        EXPECT_THAT(result->err, HasSubstr("cannot write out/runs.jsonl"));
        EXPECT_THAT(text, IsEmpty());
        continue;
      }
      EXPECT_TRUE(text.ends_with("\n"));
      const bool is_lost = lines_of(text).size() < num_lines;
      EXPECT_EQ(is_lost, result->err.find("a result is not kept") != std::string::npos);
      const Result again = run(args);
      EXPECT_EQ(again.exit, 0) << again.err;
      EXPECT_EQ(lines_of(read(path("out/runs.jsonl"))).size(), num_lines);
    }
  }
}

TEST_F(Fault, ALineThatCouldNotBeCutOffIsCutOffBeforeTheNext) {
  fs::create_directory(path("out"));
  const std::string args =
      "tune loans.csv --label default --architecture 'cal(2) lin(1)' --epochs 3 --trials 4 "
      "--threads 1 -o best.esp --results out/runs.jsonl";
  ASSERT_EQ(run(args).exit, 0);
  const std::vector<std::string> whole = lines_of(read(path("out/runs.jsonl")));
  write("out/runs.jsonl", whole[0] + "\n" + whole[1].substr(0, 20));
  const auto result = run_spoilt("ftruncate", 1, 1, fmt::format("{}", EIO), "out", args);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit, 0) << result->err;
  EXPECT_THAT(result->err, HasSubstr("a result is not kept: cannot shorten"));
  EXPECT_EQ(lines_of(read(path("out/runs.jsonl"))).size(), whole.size() - 1);
  EXPECT_EQ(run(args).exit, 0);
  EXPECT_EQ(lines_of(read(path("out/runs.jsonl"))).size(), whole.size());
}

TEST_F(Fault, AShardThatVanishesOrChangesIsNamed) {
  fs::create_directory(path("parts"));
  fs::create_directory(path("cache"));
  std::string rows;
  for (int i = 0; i < 30; ++i) rows += fmt::format("{},{}\n", i % 7, i % 2);
  write("parts/1.csv", "a,y\n" + rows);
  write("parts/2.csv", "a,y\n" + rows + "word,1\n");  // so that there are two passes
  const std::string args =
      "train parts --label y --architecture 'cal(2) lin(1)' --epochs 1 --quiet --cache cache ";
  for (const std::string& how : {fmt::format("{}", ENOENT), std::string("touch")}) {
    int call = 1;
    for (;; ++call) {
      const auto result = run_spoilt("open", call, call, how, "parts", args + "-o disk.esp");
      if (!result) break;
      SCOPED_TRACE(fmt::format("open {}, {}: {}", call, how, result->err));
      EXPECT_EQ(result->exit, 1);
      EXPECT_THAT(result->err, ContainsRegex("parts/[12].csv"));
      EXPECT_THAT(result->err,
                  HasSubstr(how == "touch" ? "changed while it was read" : "cannot read"));
      EXPECT_THAT(files("cache"), IsEmpty());
      EXPECT_FALSE(fs::exists(path("disk.esp")));
      write("parts/1.csv", "a,y\n" + rows);
      write("parts/2.csv", "a,y\n" + rows + "word,1\n");
    }
    EXPECT_GT(call, 4) << "a pass is missing";
    fs::remove(path("disk.esp"));  // of the run that nothing spoilt
    fs::remove_all(path("cache"));
    fs::create_directory(path("cache"));
  }
}

TEST_F(Fault, ATableOnDiskIsWholeOrAbsent) {
  std::string text = "a,b,y\n";
  for (int i = 0; i < 30; ++i)
    text += fmt::format("{},{},{}\n", i % 7, i % 3 == 0 ? "x" : "z", i % 2);
  write("t.csv", text);
  const std::string args =
      "train t.csv --label y --architecture 'cal(2) lin(1)' --epochs 1 --quiet ";
  must(args + "-o plain.esp");
  const std::string from_disk = args + "--cache cache -o disk.esp";
  for (const std::string function : {"open", "write", "close", "rename"}) {
    for (const std::string& how : {fmt::format("{}", ENOSPC), std::string("kill")}) {
      int call = 1;
      for (;; call += effort(2, 4)) {
        fs::remove_all(path("cache"));
        fs::create_directory(path("cache"));
        const auto result = run_spoilt(function, call, call, how, "cache", from_disk);
        if (!result) break;
        SCOPED_TRACE(fmt::format("{} {}, {}: {}", function, call, how, result->err));
        if (how != "kill" && result->exit != 0) {
          EXPECT_THAT(result->err, HasSubstr("cannot"));
          EXPECT_THAT(files("cache"), AnyOf(IsEmpty(), SizeIs(1)));
        }
        must(from_disk);  // whatever was left
        EXPECT_EQ(read(path("disk.esp")), read(path("plain.esp")));
        EXPECT_EQ(files("cache").size(), 1U);
      }
      EXPECT_GT(call, 1) << function << " was never called";
    }
  }
}

}  // namespace
}  // namespace espalier
