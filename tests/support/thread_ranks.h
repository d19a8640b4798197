// SPDX-License-Identifier: Apache-2.0
// For tests: the threads of one process as ranks.
//
//   on_ranks(4, [](Ranks& ranks) { train(table, options, {.ranks = &ranks}); });
#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "espalier/ranks.h"

namespace espalier {

/// Where the ranks meet: all lay out what they send, then all take what is theirs.
class MeetingPlace {
 public:
  using Messages = std::span<const std::span<const std::byte>>;

  explicit MeetingPlace(int size) : sent(static_cast<std::size_t>(size)) {}

  /// Waits for all; throws if one of them has left.
  void meet() {
    std::unique_lock lock(mutex_);
    if (++waiting_ == static_cast<int>(sent.size())) {
      waiting_ = 0;
      ++round_;
      changed_.notify_all();
      return;
    }
    const int round = round_;
    changed_.wait(lock, [&] { return round_ != round || left_; });
    if (round_ == round) throw std::runtime_error("another rank has left");
  }

  void leave() {
    const std::lock_guard lock(mutex_);
    left_ = true;
    changed_.notify_all();
  }

  std::vector<Messages> sent;  // one a rank

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0, round_ = 0;
  bool left_ = false;
};

class ThreadRanks : public Ranks {
 public:
  ThreadRanks(int rank, MeetingPlace& place) : rank_(rank), place_(place) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(place_.sent.size()); }

  void exchange(std::span<const std::span<const std::byte>> send,
                std::span<const std::span<std::byte>> receive) override {
    const auto own = static_cast<std::size_t>(rank_);
    place_.sent[own] = send;
    place_.meet();
    for (std::size_t q = 0; q < receive.size(); ++q) {
      const std::span<const std::byte> message = place_.sent[q][own];
      if (message.size() != receive[q].size()) throw std::logic_error("sizes do not fit");
      std::copy(message.begin(), message.end(), receive[q].begin());
    }
    place_.meet();
  }

 private:
  const int rank_;
  MeetingPlace& place_;
};

/// Runs work on that many ranks and waits for all; rethrows what the first to fail threw.
inline void on_ranks(int size, const std::function<void(Ranks&)>& work) {
  MeetingPlace place(size);
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadRanks ranks(rank, place);
      try {
        work(ranks);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
        place.leave();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace espalier
