// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM. A separate thread waits for them, so that the program reacts immediately
// while other threads compute.
#pragma once

#include <functional>

namespace espalier {

/// Call it before starting any other thread, because those inherit the signal mask. A signal then
/// ends the program as usual, unless a SignalAnswer handles it.
void watch_signals();

/// While it exists, its function decides about signals, on the waiting thread; the newest
/// SignalAnswer comes first. The program ends unless the function promises to stop. The next signal
/// always ends the program.
class SignalAnswer {
 public:
  enum class Answer { end, will_stop };

  explicit SignalAnswer(std::function<Answer()> answer);
  ~SignalAnswer();
  SignalAnswer(const SignalAnswer&) = delete;
  SignalAnswer& operator=(const SignalAnswer&) = delete;

  Answer ask();

 private:
  std::function<Answer()> answer_;
  bool is_stopping_ = false;
};

}  // namespace espalier
