// SPDX-License-Identifier: Apache-2.0
// Training on several ranks, beyond the law of objectives_test.cc that the model is the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <optional>
#include <stop_token>

#include "espalier/error.h"
#include "espalier/simulate.h"
#include "espalier/train.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/thread_ranks.h"
#include "train/batches.h"
#include "train/gradient_sum.h"
#include "train/problem.h"
#include "train/team.h"
#include "train/train_on.h"

namespace espalier {
namespace {

using ::testing::HasSubstr;

const TrainOptions kOptions = {.label = "default",
                               .increasing = {"debt_ratio"},
                               .architecture = "cal(4) lin(1)",
                               .epochs = 4,
                               .batch_size = 256,
                               .threads = 1};

Table rank_loans(std::uint64_t seed = 1) {
  return simulate({.rows = 700, .numbers = 4, .categories = 1, .seed = seed});
}

TEST(Ranks, SayInOrderWhatTheyHave) {
  on_ranks(3, [](Ranks& ranks) {
    Team team(1, &ranks);
    const std::string own(static_cast<std::size_t>(ranks.rank() * ranks.rank()), 'x');
    EXPECT_EQ(team.gather(own), (std::vector<std::string>{"", "x", "xxxx"}));
    EXPECT_EQ(team.from_first(ranks.rank() == 0 ? "first" : "other"), "first");
  });
}

TEST(Ranks, OneIsAskedToStopAndAllDoAndAnyNumberOfThemGoesOn) {
  const Table table = rank_loans();
  const std::string undisturbed = train(table, kOptions).model.to_bytes();
  const TemporaryFolder folder;
  const std::string checkpoint = (folder / "run").string();
  std::atomic<int> stopped = 0;
  on_ranks(3, [&](Ranks& ranks) {
    std::stop_source stop;
    const auto progress = [&](const Progress& told) {
      if (ranks.rank() == 2 && told.last.epoch == 2) stop.request_stop();
    };
    const TrainResult result = train(table, kOptions,
                                     {.progress = progress,
                                      .stop = stop.get_token(),
                                      .checkpoint = checkpoint,
                                      .ranks = &ranks});
    EXPECT_EQ(result.history.size(), 2u);
    stopped += result.stopped;
  });
  EXPECT_EQ(stopped, 3);
  const std::string bytes = [&] {
    const TemporaryFolder other;  // of the ranks whose machine has no checkpoint
    std::filesystem::create_directory(other / "run");
    std::string found;
    on_ranks(2, [&](Ranks& ranks) {
      const std::string own = ranks.rank() == 0 ? checkpoint : (other / "run").string();
      const TrainResult result =
          train(table, kOptions, {.checkpoint = own, .resume = true, .ranks = &ranks});
      if (ranks.rank() == 0) found = result.model.to_bytes();
    });
    EXPECT_TRUE(std::filesystem::is_empty(other / "run"));
    return found;
  }();
  EXPECT_EQ(bytes == undisturbed, true);
}

// Of few rows and of many, with members that hold out other rows.
TEST(Ranks, AveragedTrainingGivesTheSameModelOnAnyNumberOfThem) {
  const Table table = rank_loans();
  TrainOptions options = kOptions;
  options.architecture = "dln(3x2)";
  options.interactions = {"none"};
  options.schedule = Schedule::averaged;
  options.epochs = 24;
  options.batch_size = 64;
  options.ensemble = 2;
  options.trees = 0;
  for (const std::size_t many_rows : {kManyRows, std::size_t{64}}) {
    const Source source{.table = table, .many_rows = many_rows};
    const std::string alone = train_on(source, options, {}).model.to_bytes();
    for (const int count : {2, 3}) {
      on_ranks(count, [&](Ranks& ranks) {
        const TrainResult result = train_on(source, options, {.ranks = &ranks});
        EXPECT_EQ(result.model.to_bytes() == alone, true) << count;
      });
    }
  }
}

TEST(Ranks, OtherRowsOrOptionsAreRefused) {
  const Table table = rank_loans(), other = rank_loans(2);
  const auto error = [&](const TrainOptions& options, const Table& rows) {
    return error_of([&] {
      on_ranks(2, [&](Ranks& ranks) {
        const bool first = ranks.rank() == 0;
        train(first ? table : rows, first ? kOptions : options, {.ranks = &ranks});
      });
    });
  };
  EXPECT_THAT(error(kOptions, other), HasSubstr("rank 1: not the same as on rank 0: the "));
  TrainOptions longer = kOptions;
  longer.epochs = 5;
  EXPECT_THAT(error(longer, table), HasSubstr("epochs was 4 and is 5 now"));
}

TEST(Ranks, KeepTheRowsOfTheirShardsWhenRowsAreMany) {
  const Table table = rank_loans();
  on_ranks(3, [&](Ranks& ranks) {
    TrainOptions options = kOptions;
    options.batch_size = 512;
    const Problem p = pose({.table = table, .many_rows = 64}, options, {.ranks = &ranks});
    const RowRange own = part_of(own_shards(&ranks, 8), p.train.num_rows, 512);
    EXPECT_TRUE(p.train.is_divided);
    EXPECT_EQ(p.train.own_rows(), own);
    EXPECT_LT(own.size(), p.train.num_rows / 2);
    EXPECT_EQ(p.train.cells.size(), own.size() * p.train.num_features);
    EXPECT_EQ(p.train.labels.size(), p.train.num_rows);
    EXPECT_EQ(p.valid.own_rows().size(), p.valid.num_rows);
    EXPECT_EQ(p.valid.cells.size(), p.valid.num_rows * p.valid.num_features);
  });
}

TEST(Ranks, RowsOfOthersAreRefused) {
  const auto error = [&](std::size_t first, std::size_t count, std::size_t many_rows) {
    return error_of([&] {
      on_ranks(2, [&](Ranks& ranks) {
        const bool is_first = ranks.rank() == 0;
        Table share =
            take_rows(rank_loans(), is_first ? rows_between(0, 350) : rows_between(350, 700));
        if (!is_first) share.first_row = first;
        if (!is_first) share.num_rows = count;
        train_on({.table = share, .many_rows = many_rows}, kOptions, {.ranks = &ranks});
      });
    });
  };
  EXPECT_EQ(error(350, 350, 64), "no error");
  for (const auto& [first, count, many_rows] :
       {std::array{351, 349, 64}, std::array{350, 349, 64}, std::array{350, 350, 701}}) {
    EXPECT_THAT(error(static_cast<std::size_t>(first), static_cast<std::size_t>(count),
                      static_cast<std::size_t>(many_rows)),
                HasSubstr("a rank has all rows, or those of rows_of_rank"));
  }
}

TEST(Ranks, ResumeManyRowsWithAnotherNumberOfRanks) {
  const Table table = rank_loans();
  TrainOptions options = kOptions;
  options.batch_size = 512;
  const Source source{.table = table, .many_rows = 64};
  const std::string undisturbed = train_on(source, options, {}).model.to_bytes();
  const TemporaryFolder folder;
  const std::string checkpoint = (folder / "run").string();
  on_ranks(3, [&](Ranks& ranks) {
    std::stop_source stop;
    const auto progress = [&](const Progress& told) {
      if (told.last.epoch == 2) stop.request_stop();
    };
    train_on(source, options,
             {.progress = progress,
              .stop = stop.get_token(),
              .checkpoint = checkpoint,
              .ranks = &ranks});
  });
  const std::string resumed =
      train_on(source, options, {.checkpoint = checkpoint, .resume = true}).model.to_bytes();
  EXPECT_EQ(resumed == undisturbed, true);
}

TEST(Ranks, WhatOneThrowsEndsTheOthers) {
  const Table table = rank_loans();
  std::atomic<int> ended = 0;
  const std::string error = error_of([&] {
    on_ranks(3, [&](Ranks& ranks) {
      const auto progress = [&](const Progress& told) {
        if (ranks.rank() == 1 && told.last.epoch == 1)
          throw Error(ErrorKind::file, "the disk of rank 1 is full");
      };
      try {
        train(table, kOptions, {.progress = progress, .ranks = &ranks});
      } catch (...) {
        ++ended;
        throw;
      }
    });
  });
  EXPECT_EQ(error, "the disk of rank 1 is full");
  EXPECT_EQ(ended, 3);
}

}  // namespace
}  // namespace espalier
