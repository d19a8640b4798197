// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM. A thread of its own waits for them, so that they are answered at once
// whatever the other threads are busy with: reading, encoding, training, evaluating, hunting.
#pragma once

#include <functional>

namespace espalier {

/// To be called before any other thread is made: those leave the signals to the one that waits.
/// From then on a signal ends the program as it would without all this, unless somebody answers it.
void watch_signals();

/// While one of these lives it is asked what to do about a signal, on the thread that waits; the
/// youngest first. The program ends unless one answers that it will come to an end by itself. The
/// next signal finds it asked already and ends the program.
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
