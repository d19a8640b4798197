// SPDX-License-Identifier: Apache-2.0
// Runs the program through its binary in a folder of its own.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "espalier/json.h"
#include "support/temporary_folder.h"

namespace espalier {

namespace fs = std::filesystem;

inline const std::string kMonotone =
    " --label default --increasing debt_ratio,late_payments --decreasing income,years_employed";

struct Result {
  int exit;
  std::string out;
  std::string err;
};

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Whether `done` came true within two minutes.
inline bool wait_until(const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

// A folder for each test; what the program says goes beside it.
class Cli : public ::testing::Test {
 protected:
  Cli() { fs::create_directory(root_ / "work"); }

  fs::path path(const std::string& name) const { return root_ / "work" / name; }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }

  static std::string read(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }

  std::set<std::string> files(const std::string& folder = ".") const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(path(folder))) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  // The shell line that runs the program on `args` in the folder of the test.
  std::string command(const std::string& args) const {
    return fmt::format("cd '{0}/work' && exec 2>'{0}/err' && exec >'{0}/out' && {1}",
                       root_.path().string(), args);
  }

  Result shell(const std::string& line) const {
    const int status = std::system(command(line).c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(root_ / "out"),
            read(root_ / "err")};
  }

  // Starts a program, `espalier` by default, and does not wait for it.
  pid_t start(const std::string& args, const std::string& program = ESPALIER_BINARY) const {
    const std::string line = command("exec '" + program + "' " + args);
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
    return child;
  }

  // Whether a program that was started ended by itself within a time; else it is killed.
  bool ends_within(pid_t child, std::chrono::duration<double> time) const {
    int status = 0;
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
      if (::waitpid(child, &status, WNOHANG) == child) {
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << read(root_ / "err");
        return true;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return WIFEXITED(status);
  }

  Result run(const std::string& args) const { return shell("'" ESPALIER_BINARY "' " + args); }

  // Runs what must succeed and returns its output.
  std::string must(const std::string& args) const {
    const Result result = run(args);
    EXPECT_EQ(result.exit, 0) << args << "\n" << result.err;
    return result.out;
  }

  Json must_json(const std::string& args) const { return Json::parse(must(args + " --json")); }

  void make_table(int rows = 300) const {
    must(fmt::format("simulate --rows {} -o loans.csv", rows));
  }

  void make_model() const {
    make_table();
    must("train loans.csv -o loans.esp --epochs 2" + kMonotone);
  }

  const TemporaryFolder root_;
};

}  // namespace espalier
