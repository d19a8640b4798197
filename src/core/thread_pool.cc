// SPDX-License-Identifier: Apache-2.0
#include "core/thread_pool.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/default_floats.h"

namespace espalier {
namespace {

constexpr std::uint64_t kGeneration = std::uint64_t{1} << 32;
constexpr std::uint64_t kInside = kGeneration - 1;

// A waiting thread spins, then yields, then sleeps.
constexpr int kSpins = 1000;
constexpr int kYields = 50;

std::uint64_t generation(std::uint64_t gate) { return gate >> 32; }
bool is_open(std::uint64_t gate) { return generation(gate) % 2 == 1; }

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Whether `done` became true while spinning and yielding.
template <class Done>
bool spin_until(const Done& done) {
  for (int i = 0; i < kSpins; ++i) {
    if (done()) return true;
    pause();
  }
  for (int i = 0; i < kYields; ++i) {
    if (done()) return true;
    std::this_thread::yield();
  }
  return false;
}

}  // namespace

int default_threads() {
  if (const char* const text = std::getenv("ESPALIER_THREADS")) {
    int threads = 0;
    const char* const end = text + std::strlen(text);
    const auto [rest, error] = std::from_chars(text, end, threads);
    if (error == std::errc() && rest == end && threads > 0) return threads;
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0) threads = default_threads();
  try {
    workers_.reserve(static_cast<std::size_t>(threads) - 1);
    while (size() < threads) {
      auto own = std::make_unique<Worker>();
      own->index = static_cast<int>(workers_.size());
      own->thread = std::thread([this, &own = *own] { serve(own); });
      workers_.push_back(std::move(own));
    }
  } catch (const std::system_error&) {
    // The system has no more threads: use those that started.
  } catch (...) {
    stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  stopping_ = true;
  wake_workers(static_cast<int>(workers_.size()));
  for (const auto& worker : workers_) worker->thread.join();
}

void ThreadPool::run_job(const Job& job) {
  assert(!is_open(gate_) && "run() inside run()");
  job_ = job;
  next_task_.store(0, std::memory_order_relaxed);
  const bool alone = workers_.empty() || job.num_tasks <= 1;
  if (!alone) {
    const int wanted = std::min(job.num_tasks, size()) - 1;
    wanted_ = wanted;
    gate_.fetch_add(kGeneration);
    wake_workers(wanted);
  }
  do_tasks();
  if (!alone) {
    gate_.fetch_add(kGeneration);
    wait_for_workers();
  }
  rethrow_error();
}

// The caller sets caller_sleeps_ and then reads gate_. A worker changes gate_ and then reads
// caller_sleeps_. In sequentially consistent order, at least one of them sees the other's change.
void ThreadPool::wait_for_workers() {
  const auto all_left = [this] { return (gate_.load() & kInside) == 0; };
  if (spin_until(all_left)) return;
  std::unique_lock lock(mutex_);
  caller_sleeps_ = true;
  left_.wait(lock, all_left);
  caller_sleeps_ = false;
}

void ThreadPool::leave() {
  gate_.fetch_sub(1);
  if (!caller_sleeps_) return;
  { const std::lock_guard lock(mutex_); }
  left_.notify_one();
}

void ThreadPool::do_tasks() {
  while (true) {
    const std::int64_t index = next_task_.fetch_add(1, std::memory_order_relaxed);
    if (index >= job_.num_tasks) return;
    try {
      job_.call(job_.context, static_cast<int>(index));
    } catch (...) {
      keep_error(static_cast<int>(index));
    }
  }
}

// All tasks with a lower number have already started, so the job sees its lowest error although no
// further task starts.
void ThreadPool::keep_error(int index) {
  next_task_.store(job_.num_tasks, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (error_ && error_index_ < index) return;
  error_ = std::current_exception();
  error_index_ = index;
}

void ThreadPool::rethrow_error() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadPool::serve(Worker& own) {
  const DefaultFloats floats;
  std::uint64_t last_generation = 0;
  while (wait_for_job(own, last_generation)) {
    std::uint64_t gate = gate_.load();
    if (!is_open(gate) || !gate_.compare_exchange_strong(gate, gate + 1)) continue;
    last_generation = generation(gate);
    do_tasks();
    leave();
  }
}

bool ThreadPool::has_news(const Worker& own, std::uint64_t last_generation) const {
  const std::uint64_t gate = gate_.load();
  return stopping_ || (is_open(gate) && generation(gate) != last_generation && own.index < wanted_);
}

// Returns false when the pool ends.
bool ThreadPool::wait_for_job(Worker& own, std::uint64_t last_generation) {
  const auto news = [&] { return has_news(own, last_generation); };
  if (!spin_until(news)) {
    std::unique_lock lock(mutex_);
    own.sleeps = true;
    own.wake.wait(lock, news);
    own.sleeps = false;
  }
  return !stopping_;
}

// The caller changes gate_ or stopping_ and then reads `sleeps`. A worker sets `sleeps` and then
// reads those. In sequentially consistent order, at least one of them sees the other's change.
void ThreadPool::wake_workers(int count) {
  for (int index = 0; index < count; ++index) {
    Worker& worker = *workers_[static_cast<std::size_t>(index)];
    if (!worker.sleeps) continue;
    { const std::lock_guard lock(mutex_); }
    worker.wake.notify_one();
  }
}

}  // namespace espalier
