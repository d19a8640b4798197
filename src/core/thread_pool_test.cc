// SPDX-License-Identifier: Apache-2.0
#include "core/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

namespace espalier {
namespace {

class ThreadPoolOfSize : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, ThreadPoolOfSize, testing::Values(1, 2, 3, 7));

TEST_P(ThreadPoolOfSize, RunsEveryTaskOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.size(), GetParam());
  for (const int num_tasks : {0, 1, 2, 3, 100, 1000}) {
    std::vector<int> calls(static_cast<std::size_t>(num_tasks));
    pool.run(num_tasks, [&](int i) { ++calls[static_cast<std::size_t>(i)]; });
    EXPECT_EQ(calls, std::vector<int>(calls.size(), 1));
  }
}

TEST_P(ThreadPoolOfSize, ShowsEachRunWhatTheOneBeforeWrote) {
  ThreadPool pool(GetParam());
  std::vector<int> a(16), b(16);
  for (int step = 0; step < 3000; ++step) {
    pool.run(16, [&](int i) { a[static_cast<std::size_t>(i)] = step + i; });
    pool.run(16, [&](int i) {
      const auto at = static_cast<std::size_t>(i);
      b[at] += a[15 - at] - step;
    });
  }
  for (int i = 0; i < 16; ++i) EXPECT_EQ(b[static_cast<std::size_t>(i)], 3000 * (15 - i));
}

TEST_P(ThreadPoolOfSize, WakesWorkersThatFellAsleep) {
  ThreadPool pool(GetParam());
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<int> sum = 0;
    pool.run(100, [&](int i) { sum += i; });
    EXPECT_EQ(sum, 4950);
  }
}

TEST_P(ThreadPoolOfSize, RethrowsTheErrorOfTheLowestTask) {
  ThreadPool pool(GetParam());
  for (int round = 0; round < 200; ++round) {
    try {
      pool.run(64, [&](int i) {
        if (i % 10 == 7) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "7");
    }
    int calls = 0;
    pool.run(1, [&](int) { ++calls; });
    EXPECT_EQ(calls, 1) << "the pool works on after an error";
  }
}

TEST(ThreadPool, RunsFewTasksOnAsFewThreads) {
  ThreadPool pool(8);
  for (const int num_tasks : {2, 3}) {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    for (int round = 0; round < 300; ++round) {
      pool.run(num_tasks, [&](int) {
        std::this_thread::yield();
        const std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
      });
    }
    EXPECT_LE(seen.size(), static_cast<std::size_t>(num_tasks));
  }
}

TEST(ThreadPool, StartsNoTaskAfterAnError) {
  ThreadPool pool(1);
  int calls = 0;
  const auto task = [&](int i) {
    ++calls;
    if (i == 2) throw std::runtime_error("stop");
  };
  EXPECT_THROW(pool.run(10, task), std::runtime_error);
  EXPECT_EQ(calls, 3);
}

TEST(ThreadPool, TakesConstTasksAndFunctions) {
  ThreadPool pool(2);
  static std::atomic<int> sum;
  sum = 0;
  const auto task = [](int i) { sum += i; };
  pool.run(4, task);
  void (*function)(int) = [](int i) { sum += 10 * i; };
  pool.run(4, function);
  EXPECT_EQ(sum, 66);
}

// The variable as it was, again at the end.
class ThreadsVariable {
 public:
  ThreadsVariable() {
    if (const char* const text = std::getenv(kName)) before_ = text;
  }
  ~ThreadsVariable() { set(before_); }
  void set(const std::optional<std::string>& text) const {
    text ? setenv(kName, text->c_str(), 1) : unsetenv(kName);
  }

 private:
  static constexpr const char* kName = "ESPALIER_THREADS";
  std::optional<std::string> before_;
};

TEST(ThreadPool, UsesAllCoresUnlessAVariableSaysHowMany) {
  const ThreadsVariable variable;
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  variable.set({});
  EXPECT_EQ(ThreadPool(0).size(), cores);
  variable.set("3");
  EXPECT_EQ(ThreadPool(0).size(), 3);
  EXPECT_EQ(ThreadPool(1).size(), 1) << "a number that the caller gives comes first";
  for (const char* const no_number : {"", "0", "-2", "two", "3 ", "99999999999"}) {
    variable.set(no_number);
    EXPECT_EQ(ThreadPool(0).size(), cores) << no_number;
  }
}

double cpu_seconds_of_this_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// A time, but of the CPU: a busy machine makes it shorter, never longer.
TEST(ThreadPool, ACallerThatWaitsForAWorkerSleeps) {
  constexpr double kWait = 0.5;
  ThreadPool pool(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> started{0};
  const double before = cpu_seconds_of_this_thread();
  pool.run(2, [&](int) {
    ++started;
    while (started < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (std::this_thread::get_id() != caller)
      std::this_thread::sleep_for(std::chrono::duration<double>(kWait));
  });
  EXPECT_LT(cpu_seconds_of_this_thread() - before, kWait / 5);
}

TEST(ThreadPool, ComesAndGoesWithoutWork) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(4);
}

}  // namespace
}  // namespace espalier
