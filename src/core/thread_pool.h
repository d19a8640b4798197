// SPDX-License-Identifier: Apache-2.0
// A fixed set of threads that run numbered tasks.
//
//   ThreadPool pool(0);
//   pool.run(num_shards, [&](int shard) { ... });
//
// Free threads take tasks in order. A result that must not depend on the number of threads is
// therefore stored per task. Starting a run allocates nothing and takes about a microsecond while
// the workers are awake. A run with few tasks uses few workers, always the same ones, and lets the
// others sleep. A waiting thread spins for some microseconds and then sleeps.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace espalier {

// The environment variable ESPALIER_THREADS if it is a positive whole number, else the number of
// cores that this process may use.
int default_threads();

class ThreadPool {
 public:
  // The thread that calls run() is one of `threads`; 0 means default_threads(). If the system
  // refuses to start that many, the pool has fewer.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls task(0) ... task(num_tasks - 1) and returns when all are done. If tasks throw, no further
  // task starts, and the exception of the lowest number is rethrown for any number of threads. One
  // caller at a time, and not from inside a task.
  template <class F>
  void run(int num_tasks, F&& task) {
    using Callable = std::remove_reference_t<F>;
    run_job({[](void* context, int index) { (*static_cast<Callable*>(context))(index); },
             const_cast<void*>(static_cast<const void*>(std::addressof(task))), num_tasks});
  }

  // Calls task(begin, end) for consecutive ranges of `step` numbers that cover [0, n).
  template <class F>
  void run_ranges(std::size_t n, std::size_t step, F&& task) {
    run(static_cast<int>((n + step - 1) / step), [&](int index) {
      const std::size_t begin = static_cast<std::size_t>(index) * step;
      task(begin, std::min(begin + step, n));
    });
  }

 private:
  struct Job {
    void (*call)(void* context, int index) = nullptr;
    void* context = nullptr;
    int num_tasks = 0;
  };

  struct Worker {
    int index = 0;
    std::atomic<bool> sleeps{false};
    std::condition_variable wake;  // a job is available
    std::thread thread;
  };

  void run_job(const Job& job);
  void do_tasks();
  void keep_error(int index);
  void rethrow_error();
  void wait_for_workers();
  void leave();
  void serve(Worker& own);
  bool wait_for_job(Worker& own, std::uint64_t last_generation);
  bool has_news(const Worker& own, std::uint64_t last_generation) const;
  void wake_workers(int count);
  void stop();

  // The gate. The high half counts openings and closings (odd: open), the low half the workers
  // inside. Workers enter only while the gate is open. The caller leaves run() only when it is
  // closed and no worker is inside, so no worker reads job_ while it changes.
  alignas(64) std::atomic<std::uint64_t> gate_{0};
  alignas(64) std::atomic<std::int64_t> next_task_{0};
  alignas(64) Job job_;
  std::exception_ptr error_;
  int error_index_ = 0;
  std::mutex mutex_;              // guards error_, error_index_ and sleeping
  std::condition_variable left_;  // tells the caller that all workers have left the job
  std::atomic<int> wanted_{0};    // workers with a lower index have a job while the gate is open
  std::atomic<bool> caller_sleeps_{false};
  std::atomic<bool> stopping_{false};
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace espalier
