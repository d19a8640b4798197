// SPDX-License-Identifier: Apache-2.0
#include "train/side_by_side.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/default_floats.h"

namespace espalier {

namespace {

class Crew {
 public:
  Crew(int count, std::stop_source& stop, const std::function<void(int, const Post&)>& job)
      : count_(count), stop_(stop), job_(job) {}

  void run(int workers) {
    {
      std::vector<std::jthread> threads;
      running_ = workers;
      for (int w = 0; w < workers; ++w) threads.emplace_back([this] { work(); });
      run_messages();
    }
    if (message_error_) std::rethrow_exception(message_error_);
    if (!job_errors_.empty()) std::rethrow_exception(job_errors_.begin()->second);
  }

 private:
  // Until no worker is left to send one.
  void run_messages() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !messages_.empty() || running_ == 0; });
      if (messages_.empty()) return;
      const std::function<void()> message = std::move(messages_.front());
      messages_.pop_front();
      lock.unlock();
      try {
        if (!message_error_) message();
      } catch (...) {
        message_error_ = std::current_exception();
        end();
      }
      lock.lock();
    }
  }

  void work() {
    const DefaultFloats floats;
    const Post post = [this](std::function<void()> message) {
      const std::lock_guard lock(mutex_);
      messages_.push_back(std::move(message));
      changed_.notify_one();
    };
    for (int job = take(); job >= 0; job = take()) {
      try {
        job_(job, post);
      } catch (...) {
        end();
        const std::lock_guard lock(mutex_);
        job_errors_.emplace(job, std::current_exception());
      }
    }
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_one();
  }

  // -1 if there is none.
  int take() {
    const std::lock_guard lock(mutex_);
    return next_ < count_ ? next_++ : -1;
  }

  void end() {
    stop_.request_stop();
    const std::lock_guard lock(mutex_);
    next_ = count_;
  }

  const int count_;
  std::stop_source& stop_;
  const std::function<void(int, const Post&)>& job_;
  std::exception_ptr message_error_;  // of the calling thread
  std::mutex mutex_;                  // of all below
  std::condition_variable changed_;
  std::deque<std::function<void()>> messages_;
  std::map<int, std::exception_ptr> job_errors_;
  int next_ = 0;
  int running_ = 0;
};

}  // namespace

void run_side_by_side(int count, int workers, std::stop_source& stop,
                      const std::function<void(int, const Post&)>& job) {
  if (workers > 1) return Crew(count, stop, job).run(workers);
  const Post post = [](const std::function<void()>& message) { message(); };
  for (int i = 0; i < count; ++i) job(i, post);
}

}  // namespace espalier
