// SPDX-License-Identifier: Apache-2.0
#include "signals.h"

#include <pthread.h>

#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace espalier {
namespace {

struct Answers {
  std::mutex mutex;
  std::vector<SignalAnswer*> list;
};

// Never destroyed: the waiting thread may outlive main().
Answers& answers() {
  static auto* const all = new Answers;
  return *all;
}

bool will_stop() {
  Answers& all = answers();
  const std::lock_guard lock(all.mutex);
  bool stops = false;
  for (auto each = all.list.rbegin(); each != all.list.rend(); ++each)
    stops = (*each)->ask() == SignalAnswer::Answer::will_stop || stops;
  return stops;
}

[[noreturn]] void wait_for(sigset_t signals) {
  for (;;) {
    int signal = 0;
    if (::sigwait(&signals, &signal) != 0 || will_stop()) continue;
    std::signal(signal, SIG_DFL);
    ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    std::raise(signal);
  }
}

}  // namespace

void watch_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    std::thread(wait_for, signals).detach();
  } catch (const std::system_error&) {  // no thread: signals end the program immediately
    ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  }
}

SignalAnswer::SignalAnswer(std::function<Answer()> answer) : answer_(std::move(answer)) {
  Answers& all = answers();
  const std::lock_guard lock(all.mutex);
  all.list.push_back(this);
}

SignalAnswer::~SignalAnswer() {
  Answers& all = answers();
  const std::lock_guard lock(all.mutex);
  std::erase(all.list, this);
}

SignalAnswer::Answer SignalAnswer::ask() {
  if (std::exchange(is_stopping_, false)) return Answer::end;
  const Answer answer = answer_();
  is_stopping_ = answer == Answer::will_stop;
  return answer;
}

}  // namespace espalier
