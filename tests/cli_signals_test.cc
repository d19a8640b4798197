// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM at any moment of any command: the program ends, though its work would go on
// for years, and leaves every file as it was unless there is a model to save.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include <csignal>

#include "cli_fixture.h"
#include "support/effort.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

constexpr int kSignals[] = {SIGINT, SIGTERM};

class CliSignals : public Cli {
 protected:
  CliSignals() {
    ::mkfifo(path("pipe").c_str(), 0600);
    pipe_ = ::open(path("pipe").c_str(), O_RDWR);  // so that its readers wait forever
  }
  ~CliSignals() override { ::close(pipe_); }

  // Starts the program, sends a signal once `ready`, and returns how it ended.
  int signalled(const std::string& args, int signal, const std::function<bool()>& ready) const {
    std::ofstream(root_ / "err").close();
    const pid_t child = start(args);
    EXPECT_GE(child, 0);  // kill() takes -1 for every process
    EXPECT_TRUE(wait_until(ready)) << args;
    ::kill(child, signal);
    return end_of(child, args);
  }

  int signalled_after(const std::string& args, int signal, int milliseconds) const {
    return signalled(args, signal, [=] {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      return true;
    });
  }

  static int end_of(pid_t child, const std::string& args) {
    int status = -1;
    const bool ended = wait_until([&] { return ::waitpid(child, &status, WNOHANG) == child; });
    EXPECT_TRUE(ended) << args;
    if (!ended) ::kill(child, SIGKILL);
    return status;
  }

  bool pipe_is_empty() const {
    int bytes = 1;
    return ::ioctl(pipe_, FIONREAD, &bytes) == 0 && bytes == 0;
  }

  std::string err() const { return read(root_ / "err"); }

  int pipe_;
};

TEST_F(CliSignals, EndEveryCommandAtAnyMomentAndLeaveEveryFileAsItWas) {
  make_table(2000);
  must("train loans.csv -o loans.esp --epochs 1 --architecture calibrated-linear" + kMonotone);
  const std::string model = read(path("loans.esp"));
  const auto before = files();
  // No epoch of these ends soon, since a step takes all rows through a large network.
  const std::string slow = " --batch-size 1 --architecture 'cal(50) lin(1200) lat(100x12) lin(1)'";
  const std::string commands[] = {
      "train pipe -o loans.esp" + kMonotone,
      "train loans.csv --valid pipe -o loans.esp" + kMonotone,
      "train loans.csv -o loans.esp" + slow + kMonotone,
      "tune pipe -o loans.esp" + kMonotone,
      "tune loans.csv -o loans.esp" + slow + kMonotone,
      "predict loans.esp - -o predictions.csv <pipe",
      "evaluate loans.esp pipe",
      "verify loans.esp --pairs 1000000000000",
      "simulate --rows 1000000000 --numbers 90 -o made.csv",
  };
  for (const std::string& args : commands) {
    for (const int signal : kSignals) {
      for (const int milliseconds : {10, 250}) {
        const int status = signalled_after(args, signal, milliseconds);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << args << "\n" << err();
        EXPECT_EQ(files(), before) << args;
        EXPECT_EQ(read(path("loans.esp")), model) << args;
      }
    }
  }
}

TEST_F(CliSignals, SayThatNoModelWasWritten) {
  for (const char* command : {"train", "tune"}) {
    for (const int signal : kSignals) {
      ASSERT_EQ(::write(pipe_, "a,y\n", 4), 4);
      const int status = signalled(fmt::format("{} pipe -o model.esp --label y", command), signal,
                                   [&] { return pipe_is_empty(); });
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << err();
      EXPECT_THAT(err(), HasSubstr("none was written"));
      EXPECT_FALSE(fs::exists(path("model.esp")));
    }
  }
}

TEST_F(CliSignals, AskATrainingToKeepItsModelAndAskedTwiceEndIt) {
  make_table();
  const std::string args = "train loans.csv -o loans.esp --epochs 1000000 --verbose" + kMonotone;
  const auto second_epoch = [&] { return err().find("epoch 2/") != std::string::npos; };
  for (const int signal : kSignals) {
    fs::remove(path("loans.esp"));
    const int status = signalled(args, signal, second_epoch);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    EXPECT_THAT(err(), HasSubstr("stopping with the best model so far"));
    EXPECT_THAT(must("verify loans.esp"), HasSubstr("monotone: proved"));
  }
}

TEST_F(CliSignals, LeaveACheckpointThatLeadsToTheSameModel) {
  make_table();
  const std::string args =
      "train loans.csv -o model.esp --epochs 2 --ensemble 1 --valid-fraction 0 --batch-size " +
      std::to_string(effort(1, 8)) + " --architecture 'cal(50) lin(120) lat(20x6) lin(1)'" +
      kMonotone;
  must(args);
  const std::string undisturbed = read(path("model.esp"));
  fs::remove(path("model.esp"));
  const std::string kept = args + " --checkpoint run --checkpoint-seconds 0";
  signalled(kept, SIGINT, [&] { return fs::exists(path("run") / "checkpoint"); });
  must(kept + " --resume");
  EXPECT_EQ(read(path("model.esp")), undisturbed);
}

}  // namespace
}  // namespace espalier
