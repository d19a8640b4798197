// SPDX-License-Identifier: Apache-2.0
// Training and tuning that are killed at random moments, continued each time with another number of
// threads, and compared byte for byte with runs that nobody disturbed.
#include <signal.h>

#include <chrono>
#include <random>
#include <thread>

#include "cli_fixture.h"
#include "support/effort.h"

namespace espalier {
namespace {

using std::chrono::duration;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// When the kills came.
struct Kills {
  int total = 0;
  int before_first_checkpoint = 0;
  int while_starting = 0;   // an older checkpoint was there and no new one yet
  int within_training = 0;  // this life had written a checkpoint
  int within_a_write = 0;   // of these: half a file was left
  int after_saving = 0;

  std::string text() const {
    return fmt::format(
        "{} kills: {} before the first checkpoint, {} while starting again, {} within training ({} "
        "of them within a write), {} after saving",
        total, before_first_checkpoint, while_starting, within_training, within_a_write,
        after_saving);
  }
};

class Crash : public Cli {
 protected:
  static constexpr const char* kRuns[] = {
      "--epochs 12 --checkpoint-seconds 0",
      "--epochs 6 --ensemble 2 --checkpoint-seconds 0",
      "--epochs 1000 --patience 20 --learning-rate 0.001 --checkpoint-seconds 0.002",
  };

  void count_kill(const std::string& checkpoint_before) {
    ++kills_.total;
    const std::string checkpoint = read(path("run/checkpoint"));
    if (fs::exists(path("model.esp"))) {
      ++kills_.after_saving;
    } else if (checkpoint.empty()) {
      ++kills_.before_first_checkpoint;
    } else if (checkpoint == checkpoint_before) {
      ++kills_.while_starting;
    } else {
      ++kills_.within_training;
      if (files("run").size() > 1) ++kills_.within_a_write;
    }
  }

  // Trains with kills until a life reaches the end.
  void train_with_kills(const std::string& flags) {
    const std::string args = "train loans.csv -o model.esp --checkpoint run " + flags + kMonotone;
    const auto begin = std::chrono::steady_clock::now();
    must(args);
    duration<double> longest = (std::chrono::steady_clock::now() - begin) / 4.0;
    const std::string undisturbed = read(path("model.esp"));
    fs::remove(path("model.esp"));
    for (int life = 0;; ++life) {
      const std::string before = read(path("run/checkpoint"));
      const pid_t child = start(fmt::format("{} --resume --threads {}", args, 1 + life % 3));
      ASSERT_GE(child, 0);  // kill() takes -1 for every process
      if (ends_within(child, longest * uniform_(random_))) break;
      count_kill(before);
      longest *= 1.1;  // so that it ends even where starting takes long
    }
    EXPECT_EQ(read(path("model.esp")), undisturbed) << flags << "; " << kills_.text();
    EXPECT_THAT(files("run"), IsEmpty());
    fs::remove(path("model.esp"));
  }

  // Tunes with kills until a life reaches the end; returns how many left results behind.
  int tune_with_kills() {
    const std::string args = "tune loans.csv -o model.esp --trials 20 --epochs 9" + kMonotone;
    const auto begin = std::chrono::steady_clock::now();
    must(args);
    const duration<double> whole = std::chrono::steady_clock::now() - begin;
    const std::string undisturbed = read(path("model.esp"));
    fs::remove(path("model.esp"));
    int kills = 0;
    for (int life = 0;; ++life) {
      const pid_t child =
          start(fmt::format("{} --results runs.jsonl --threads {}", args, 1 + life % 3));
      if (child < 0) return 0;  // kill() takes -1 for every process
      if (ends_within(child, whole * uniform_(random_) * (0.3 + 0.1 * life))) break;
      kills += lines_of(read(path("runs.jsonl"))).size() > 1;
    }
    EXPECT_EQ(read(path("model.esp")), undisturbed);
    std::set<std::tuple<int, int, int>> seen;
    const std::vector<std::string> lines = lines_of(read(path("runs.jsonl")));
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const Json run = Json::parse(lines[i]);
      const auto number = [&](const char* name) { return run[name].get<int>(); };
      EXPECT_TRUE(seen.emplace(number("trial"), number("rung"), number("repeat")).second)
          << lines[i];
    }
    fs::remove(path("model.esp"));
    fs::remove(path("runs.jsonl"));
    return kills;
  }

  static int least_kills() {
    const char* const wanted = std::getenv("ESPALIER_KILLS");
    return wanted == nullptr ? 50 : std::atoi(wanted);
  }

  Kills kills_;
  std::mt19937 random_{1};
  std::uniform_real_distribution<double> uniform_{0, 1};
};

TEST_F(Crash, KilledAtRandomAndResumedARunEndsWithTheSameBytes) {
  make_table();
  // A quick machine may end a run before the first kill.
  for (int run = 0; run < effort(3, 1) || (kills_.within_training == 0 && run < 30); ++run)
    train_with_kills(kRuns[run % 3]);
  EXPECT_GT(kills_.within_training, 0) << kills_.text();
}

using LongCrash = Crash;

TEST_F(LongCrash, ManyKills) {
  make_table();
  for (int run = 0; kills_.total < least_kills(); ++run) train_with_kills(kRuns[run % 3]);
  std::cout << kills_.text() << "\n";
}

TEST_F(Crash, StoppedByASignalARunCanBeResumedToItsEnd) {
  make_table();
  const std::string args = "train loans.csv -o model.esp --epochs " +
                           std::to_string(effort(1500, 600)) + " --ensemble 1 --valid-fraction 0" +
                           kMonotone;
  must(args);
  const std::string undisturbed = read(path("model.esp"));
  const pid_t child = start(args + " --checkpoint run --verbose");
  ASSERT_GE(child, 0);
  EXPECT_TRUE(
      wait_until([&] { return read(root_ / "err").find("epoch 2/") != std::string::npos; }));
  ::kill(child, SIGINT);
  ASSERT_TRUE(ends_within(child, std::chrono::minutes(2)));
  EXPECT_THAT(read(root_ / "err"), HasSubstr("with --resume trains on"));
  EXPECT_NE(read(path("model.esp")), undisturbed);
  EXPECT_EQ(files("run"), std::set<std::string>{"checkpoint"});

  const Result refused = run(args + " --checkpoint run");
  EXPECT_EQ(refused.exit, 2);
  EXPECT_THAT(refused.err, HasSubstr("pass --resume to continue it, or delete the file"));
  const Result other = run(args + " --checkpoint run --resume --seed 2");
  EXPECT_EQ(other.exit, 2);
  EXPECT_THAT(other.err, HasSubstr("seed was 1 and is 2 now"));
  const Result again = run(args + " --checkpoint run --resume");
  EXPECT_EQ(again.exit, 0);
  EXPECT_THAT(again.err, HasSubstr("espalier: resuming  epoch "));
  EXPECT_EQ(read(path("model.esp")), undisturbed);
  EXPECT_THAT(files("run"), IsEmpty());
}

TEST_F(Crash, KilledAtRandomATuneRepeatsNoFinishedTrainingAndEndsWithTheSameBytes) {
  make_table();
  EXPECT_GT(tune_with_kills(), 0);
}

TEST_F(LongCrash, ManyKillsOfTunes) {
  make_table();
  int kills = 0;
  while (kills < least_kills()) kills += tune_with_kills();
  std::cout << kills << " kills that left results\n";
}

TEST_F(Crash, StoppedByASignalATuneSavesAModelAndCanGoOn) {
  make_table();
  const std::string args = "tune loans.csv -o model.esp --results runs.jsonl" + kMonotone;
  const pid_t child = start(args + " --minutes 100");
  ASSERT_GE(child, 0);
  EXPECT_TRUE(wait_until(
      [&] { return read(path("runs.jsonl")).find("{\"trial\":1,") != std::string::npos; }));
  ::kill(child, SIGINT);
  ASSERT_TRUE(ends_within(child, std::chrono::minutes(2)));
  EXPECT_THAT(read(root_ / "err"), HasSubstr("stopping with the best settings so far"));
  EXPECT_THAT(read(root_ / "err"), HasSubstr("stopped early"));
  must("verify model.esp");
  const std::string before = read(path("runs.jsonl"));
  must(args + " --trials 1 --confirm 0");
  EXPECT_EQ(read(path("runs.jsonl")), before);
}

TEST_F(Crash, RefusesFlagsThatMakeNoSense) {
  make_table();
  for (const char* flag : {"--resume", "--checkpoint-seconds 3"}) {
    const Result result = run(fmt::format("train loans.csv --label default {}", flag));
    EXPECT_EQ(result.exit, 2);
    EXPECT_THAT(result.err, HasSubstr("--checkpoint"));
  }
  const Result result = run("train loans.csv --label default --checkpoint absent/run");
  EXPECT_EQ(result.exit, 1);
  EXPECT_THAT(result.err, HasSubstr("cannot make the folder absent/run"));
  const Result same = run("train loans.csv --label default --checkpoint . -o checkpoint");
  EXPECT_EQ(same.exit, 2);
  EXPECT_THAT(same.err, HasSubstr("--checkpoint: './checkpoint' is also the path of -o"));
}

}  // namespace
}  // namespace espalier
