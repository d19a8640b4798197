// SPDX-License-Identifier: Apache-2.0
// The search over ranks.
//
// Every rank keeps the whole search in mind. A beat of all ranks tells what is finished and how
// many threads are free; then each knows who trains what comes next.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "core/thread_pool.h"
#include "search/search.h"

namespace espalier {

namespace {

constexpr std::chrono::milliseconds kBeat{10};

std::string line_of(const TuneRun& run, Metric metric) { return format_run(run, metric) + "\n"; }

std::vector<TuneRun> runs_in(std::string_view lines) {
  std::vector<TuneRun> runs;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    runs.push_back(parse_run(lines.substr(0, end), "a rank"));
    lines.remove_prefix(end + 1);
  }
  return runs;
}

}  // namespace

std::vector<TuneRun> earlier_runs(const TuneResults& results, Metric metric, Team& team) {
  std::string lines;
  for (const TuneRun& run : results.earlier()) lines += line_of(run, metric);
  return runs_in(team.from_first(lines));
}

// One thread more keeps time with the other ranks.
void Search::spread(const Phase& phase) {
  ThreadPool threads(team_.pool().size() + 1);
  is_over_ = false;
  threads.run(threads.size(), [&](int task) {
    if (task > 0) return work(phase);
    try {
      while (!beat(phase, threads.size() - 1)) std::this_thread::sleep_for(kBeat);
    } catch (...) {
      end(phase);
      throw;
    }
    end(phase);
  });
  hear(phase, 0);  // of runs that ended while the time did
  assigned_.clear();
  in_hand_ = running_ = 0;
}

void Search::end(const Phase& phase) {
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  phase.stop.request_stop();
  changed_.notify_all();
}

std::optional<Search::Run> Search::take_assigned(const Phase& phase,
                                                 std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock,
                [&] { return !assigned_.empty() || is_over_ || phase.stop.stop_requested(); });
  if (assigned_.empty() || phase.stop.stop_requested()) return std::nullopt;
  const Run run = assigned_.front();
  assigned_.pop_front();
  return run;
}

void Search::keep_to_tell(const std::optional<TuneRun>& finished) {
  --in_hand_;
  if (finished) to_tell_ += line_of(*finished, problem_.metric);
}

// Tells and hears what is finished; returns how many threads each rank has free.
std::vector<int> Search::hear(const Phase& phase, int threads) {
  std::string own;
  {
    const std::lock_guard lock(mutex_);
    own = fmt::format("{}{:9}", team_.is_first() && is_over(phase) ? 1 : 0, threads - in_hand_);
    own += std::exchange(to_tell_, {});
  }
  constexpr std::size_t kHead = 10;
  std::vector<int> free;
  for (const std::string& told : team_.gather(own)) {
    free.push_back(std::stoi(told.substr(1, kHead - 1)));
    if (told[0] == '1') phase.stop.request_stop();
    for (const TuneRun& run : runs_in(std::string_view(told).substr(kHead))) {
      {
        const std::lock_guard lock(mutex_);
        --running_;
        add({{run.trial, run.rung}, run.repeat}, run);
      }
      tell(&run, phase);
    }
  }
  return free;
}

// Whether there is nothing left to do.
bool Search::beat(const Phase& phase, int threads) {
  if (phase.stop.stop_requested()) return true;  // a training has failed here
  std::vector<int> free = hear(phase, threads);
  team_.agree_on_stop();
  if (team_.stop_requested() || phase.stop.stop_requested()) return true;
  const std::lock_guard lock(mutex_);
  while (true) {
    const auto freest = std::ranges::max_element(free);
    if (*freest <= 0) return false;
    const std::optional<Run> run = phase.next();
    if (!run) return running_ == 0;
    if (const std::optional<double> known = known_value(*run)) {
      finish(*run, *known);
      continue;
    }
    ++running_;
    --*freest;
    if (freest - free.begin() != team_.ranks()->rank()) continue;
    ++in_hand_;
    assigned_.push_back(*run);
    changed_.notify_one();
  }
}

}  // namespace espalier
