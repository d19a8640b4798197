// SPDX-License-Identifier: Apache-2.0
#include "train/side_by_side.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "espalier/error.h"
#include "support/error_of.h"

namespace espalier {
namespace {

TEST(SideBySide, RunsEveryJobAndEveryMessageOnTheCallingThreadInTheOrderOfItsJob) {
  for (const int workers : {1, 2, 5}) {
    std::stop_source stop;
    std::vector<std::vector<int>> told(20);
    const std::thread::id own = std::this_thread::get_id();
    run_side_by_side(20, workers, stop, [&](int job, const Post& post) {
      for (int i = 0; i < 10; ++i) {
        post([&, job, i] {
          EXPECT_EQ(std::this_thread::get_id(), own);
          told[static_cast<std::size_t>(job)].push_back(i);
        });
      }
    });
    for (const std::vector<int>& each : told)
      EXPECT_EQ(each, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_FALSE(stop.stop_requested());
  }
}

TEST(SideBySide, AJobThatThrowsStopsTheOthersAndTheLowestErrorIsRethrown) {
  std::stop_source stop;
  std::atomic<int> begun = 0;
  const std::string error = error_of([&] {
    run_side_by_side(100, 3, stop, [&](int job, const Post&) {
      ++begun;
      while (begun < 3) std::this_thread::yield();
      if (job < 2) throw Error(ErrorKind::data, std::to_string(job));
      while (!stop.stop_requested()) std::this_thread::yield();
    });
  });
  EXPECT_EQ(error, "0");
  EXPECT_LE(begun, 4);
}

TEST(SideBySide, AMessageThatThrowsStopsTheJobs) {
  for (const int workers : {1, 3}) {
    std::stop_source stop;
    const std::string error = error_of([&] {
      run_side_by_side(3, workers, stop, [&](int job, const Post& post) {
        post([job] {
          if (job == 0) throw Error(ErrorKind::data, "told");
        });
        while (workers > 1 && !stop.stop_requested()) std::this_thread::yield();
      });
    });
    EXPECT_EQ(error, "told");
  }
}

}  // namespace
}  // namespace espalier
